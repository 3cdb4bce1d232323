// Guarantees: the transcripts in docs/ are what the commands in them print, run in an empty folder,
// with the package as it would be published and an application that has never heard of it.
// `npm run check -- transcripts` runs everything anew and writes it into the docs. With `--check`,
// it only fails if the receiver of docs/getting-started.md does not print the block of that
// application under its request, with its function and line.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { sendOk } from '../tools/http-client.cjs';
import { npm } from '../tools/npm.cjs';
import { pack } from '../tools/pack.cjs';
import { PACKAGE_NAME as PACKAGE, ROOT } from '../tools/paths.cjs';

const APPLICATION = 'examples/plain-express.cjs';
const RECEIVER = 'examples/receiver.cjs';
// As `/register` itself says, for the Node.js that runs this.
const INSTRUMENTATIONS = `@opentelemetry/auto-instrumentations-node${Number.parseInt(process.versions.node, 10) < 22 ? '@0.81' : ''}`;
const PEER = 'blocked-at@1.2.0';
/** Those in the docs. Others are used here, since these may be in use. */
const PORTS = { application: 3000, receiver: 4318 };
const [applicationPort, receiverPort] = ['3117', '3118'];
/** The watchdog thread starts some 50 ms after the loop began to turn, on an idle machine. */
const WARM_UP_MILLIS = 1000;

const { values: options } = parseArgs({ options: { check: { type: 'boolean', default: false } } });

const folder = mkdtempSync(join(tmpdir(), 'event-loop-transcript-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

/**
 * Starts `node` as a shell would, and resolves when it has printed that it listens.
 * @param {string} command what stands in the docs: `NAME=value node …`
 */
async function start(command) {
  const words = command.replaceAll('\\\n', '').split(/\s+/);
  const at = words.indexOf('node');
  const set = Object.fromEntries(words.slice(0, at).map((word) => word.split('=')));
  const child = spawn(process.execPath, words.slice(at + 1), {
    cwd: folder,
    env: {
      ...withoutTelemetry(process.env),
      ...set,
      PORT: applicationPort,
      RECEIVER_PORT: receiverPort,
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${receiverPort}`,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  process.once('exit', () => child.kill('SIGKILL'));
  /** @type {string[]} */
  const lines = [];
  const listens = new Promise((found) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        lines.push(line);
        if (/ port \d+$/.test(line)) found(true);
      });
    }
  });
  const printed = () =>
    lines
      .join('\n')
      .replaceAll(`${folder}/`, '')
      .replaceAll(applicationPort, String(PORTS.application))
      .replaceAll(receiverPort, String(PORTS.receiver));
  if (!(await Promise.race([listens, once(child, 'exit').then(() => false)])))
    throw new Error(`${command} has not started:\n${printed()}`);
  return {
    printed,
    async end() {
      child.kill('SIGTERM');
      await once(child, 'close');
      return printed();
    },
  };
}

const withoutTelemetry = (/** @type {NodeJS.ProcessEnv} */ env) =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !/^(OTEL_|NODE_OPTIONS$)/.test(name)));

/** Starts the application, asks it for its report, and ends it. */
async function run(/** @type {string} */ command) {
  const application = await start(command);
  await wait(WARM_UP_MILLIS);
  await sendOk(`http://127.0.0.1:${applicationPort}/report`);
  return application.end();
}

/** Puts `text` between the marks of this name in a page. */
function write(/** @type {string} */ page, /** @type {string} */ name, /** @type {string} */ text) {
  const file = join(ROOT, page);
  const marks = [`<!-- transcript ${name} -->`, `<!-- end of transcript ${name} -->`];
  const before = readFileSync(file, 'utf8');
  const [from, to] = marks.map((mark) => before.indexOf(mark));
  if (from === -1 || to === -1) throw new Error(`${page} has no marks for the transcript ${name}`);
  writeFileSync(
    file,
    `${before.slice(0, from + marks[0].length)}\n\n${text.trim()}\n\n${before.slice(to)}`,
  );
}

const fenced = (/** @type {string} */ language, /** @type {string} */ text) =>
  `\`\`\`${language}\n${text.trim()}\n\`\`\``;
const shell = (/** @type {string[]} */ ...lines) => fenced('console', lines.join('\n'));

/** An example without its first comment. */
const withoutHead = (/** @type {string} */ file) =>
  readFileSync(join(ROOT, file), 'utf8').replace(/^\/\/.*\n/, '');

const SET_UP = [
  'npm init -y',
  `npm install express ${PACKAGE} @opentelemetry/api \\\n  ${INSTRUMENTATIONS}`,
];
const RECEIVE = 'node receiver.js';
const SERVE = `OTEL_SERVICE_NAME=shop OTEL_EXPORTER_OTLP_PROTOCOL=http/json \\\n  node --import ${PACKAGE}/register app.js`;

const tarball = pack();
for (const command of SET_UP)
  npm(
    command
      .replace(PACKAGE, tarball.path)
      .split(/[\s\\]+/)
      .slice(1),
    folder,
  );
copyFileSync(join(ROOT, APPLICATION), join(folder, 'app.js'));
copyFileSync(join(ROOT, RECEIVER), join(folder, 'receiver.js'));
const receiver = await start(RECEIVE);
const served = await run(SERVE);
const received = await receiver.end();
console.log(received);
if (!/^GET \/report .*(\n +.*)*\n +event-loop-blocked .* renderReport app\.js \d+$/m.test(received))
  throw new Error('no block of renderReport under its request');

if (!options.check) {
  const page = 'docs/getting-started.md';
  write(page, 'application', fenced('js', withoutHead(APPLICATION)));
  write(page, 'receiver', fenced('js', withoutHead(RECEIVER)));
  const setUp = fenced('sh', ['mkdir shop && cd shop', ...SET_UP].join('\n'));
  write(page, 'set-up', `With Node.js ${process.versions.node}:\n\n${setUp}`);
  const [first, ...rest] = received.split('\n');
  write(page, 'receive', shell(`$ ${RECEIVE}`, first));
  write(page, 'run', shell(`$ ${SERVE.replace('\n', '\n  ')}`, ...served.split('\n')));
  write(page, 'received', fenced('', rest.join('\n')));

  npm(['install', PEER], folder);
  writeFileSync(
    join(folder, 'blocked.js'),
    [
      "require('blocked-at')(",
      "  (time, stack) => console.error('blocked for', time, 'ms, operation started here:', stack),",
      '  { threshold: 100 },',
      ');',
    ].join('\n'),
  );
  const ours = `node --import ${PACKAGE}/console app.js`;
  write('docs/console.md', 'this package', shell(`$ ${ours}`, ...(await run(ours)).split('\n')));
  const theirs = 'node --require ./blocked.js app.js';
  write(
    'docs/migrating-from-blocked-at.md',
    'blocked-at',
    [
      '`blocked.js`:',
      fenced('js', readFileSync(join(folder, 'blocked.js'), 'utf8')),
      shell(`$ ${theirs}`, ...(await run(theirs)).split('\n')),
    ].join('\n\n'),
  );
}
