// Guarantees: the transcripts in README.md and docs/ are what the commands in them print, run in an
// empty folder, with the package as it would be published and an application that has never heard
// of it. What README.md says is installed is all that is installed there.
// `npm run check -- transcripts` runs everything anew and writes it into the pages. With `--check`,
// it fails if what stands on README.md is not what is printed, numbers aside, or if the receiver of
// docs/getting-started.md does not print the block under its request.
import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { plainEnvironment } from '../tools/harness.cjs';
import { sendOk } from '../tools/http-client.cjs';
import { npm } from '../tools/npm.cjs';
import { pack } from '../tools/pack.cjs';
import { PACKAGE_NAME as PACKAGE, ROOT } from '../tools/paths.cjs';

const APPLICATION = 'examples/plain-express.cjs';
const RECEIVER = 'examples/receiver.cjs';
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
  const at = words.findIndex((word) => ['node', 'npx'].includes(word));
  const set = Object.fromEntries(words.slice(0, at).map((word) => word.split('=')));
  const program = words[at] === 'npx' ? [join('node_modules', PACKAGE, 'dist/cli.mjs')] : [];
  const args = words.slice(at + 1 + program.length);
  const child = spawn(process.execPath, [...program, ...args], {
    cwd: folder,
    env: {
      ...plainEnvironment(),
      ...set,
      RECEIVER_PORT: receiverPort,
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${receiverPort}`,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  process.once('exit', () => child.kill('SIGKILL'));
  /** @type {string[]} */
  const lines = [];
  const all = new EventEmitter();
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      all.emit('line');
    });
  }
  /** Whether a line comes, or has come, before the process ends. */
  const said = async (/** @type {RegExp} */ line) => {
    while (!lines.some((one) => line.test(one))) {
      if (child.exitCode !== null) return false;
      await Promise.race([once(all, 'line'), once(child, 'exit')]);
    }
    return true;
  };
  const printed = () =>
    lines
      .join('\n')
      .replace(/file:\/\/.*-\d+\.html/, 'file:///app/event-loop-8126.html')
      .replaceAll(`${folder}/`, '')
      .replaceAll(/trace ([0-9a-f]{4})[0-9a-f]{28}/g, 'trace $1…')
      .replaceAll(applicationPort, String(PORTS.application))
      .replaceAll(receiverPort, String(PORTS.receiver));
  if (!(await said(/ port \d+$/))) throw new Error(`${command} has not started:\n${printed()}`);
  return {
    printed,
    said,
    async end() {
      child.kill('SIGINT');
      await once(child, 'close');
      return printed();
    },
  };
}

/** Starts the application, asks it for its report, and ends it. */
async function run(/** @type {string} */ command) {
  const application = await start(command);
  await wait(WARM_UP_MILLIS);
  await sendOk(`http://127.0.0.1:${applicationPort}/report`);
  await application.said(/blocked/);
  return application.end();
}

/** Puts `text` in a page, in the place of `before`; with `--check`, only compares. */
function put(/** @type {string} */ page, /** @type {string} */ before, /** @type {string} */ text) {
  const file = join(ROOT, page);
  if (!options.check)
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace(before, () => text.trim()),
    );
  else if (saidIn(before) !== saidIn(text))
    throw new Error(`${page} says\n${before}\nbut what is printed is\n${text}`);
}

/** Between the marks of this name. */
function write(/** @type {string} */ page, /** @type {string} */ name, /** @type {string} */ text) {
  const all = readFileSync(join(ROOT, page), 'utf8');
  const mark = `<!-- transcript ${name} -->`;
  const [from, to] = [all.indexOf(mark), all.indexOf(`<!-- end of transcript ${name} -->`)];
  if (from === -1 || to === -1) throw new Error(`${page} has no marks for the transcript ${name}`);
  const before = all.slice(from + mark.length, to).trim();
  put(page, before, text);
}

/** In README.md, whose lines are few: the block of code that begins as `text` does. */
function writeToReadme(/** @type {string} */ text) {
  const start = (/** @type {string} */ block) => saidIn(block.split('\n', 2).join('\n'));
  const blocks = readFileSync(join(ROOT, 'README.md'), 'utf8').match(/^```[\s\S]*?^```$/gm) ?? [];
  const before = blocks.find((block) => start(block) === start(text));
  if (before === undefined) throw new Error(`README.md has no block that begins as\n${text}`);
  put('README.md', before, text);
}

/** Without numbers, and what a busy machine adds: start-up, and blocks of other code. */
const saidIn = (/** @type {string} */ text) =>
  text
    .trim()
    .split('\n')
    .filter(
      (line) =>
        !/^at start-up|^not the application|^ *event-loop-blocked [^:]*: (?!renderReport)/.test(
          line,
        ),
    )
    .map((line) =>
      line.replaceAll(/ *[\d.]+ (ms|s|%|blocks?)|(?<=app\.js:\d+):\d+|[0-9a-f]{4}…/g, '#'),
    )
    .join('\n');

const fenced = (/** @type {string} */ language, /** @type {string} */ text) =>
  `\`\`\`${language}\n${text.trim()}\n\`\`\``;
const shell = (/** @type {string[]} */ ...lines) => fenced('console', lines.join('\n'));

/** An example without its first comment. */
const withoutHead = (/** @type {string} */ file) =>
  readFileSync(join(ROOT, file), 'utf8').replace(/^\/\/.*\n/, '');

const SET_UP = [
  'npm init -y',
  `npm install express ${PACKAGE} \\\n  @opentelemetry/auto-instrumentations-node`,
];
const RECEIVE = 'node receiver.js';
const COMMAND = `npx ${PACKAGE} --page app.js`;
const REGISTER = `OTEL_INSTRUMENTATION_EVENT_LOOP_CONSOLE=true \\\n  node --import ${PACKAGE}/register app.js`;
const SERVE = `OTEL_EXPORTER_OTLP_PROTOCOL=http/json ${REGISTER}`;

const tarball = pack();
const install = (/** @type {string} */ command) =>
  npm(
    command
      .replace(PACKAGE, tarball.path)
      .split(/[\s\\]+/)
      .slice(1),
    folder,
  );
const [[toConsole], [toRegister]] = [
  ...readFileSync(join(ROOT, 'README.md'), 'utf8').matchAll(/^npm install .*$/gm),
];
const application = withoutHead(APPLICATION);
writeFileSync(
  join(folder, 'app.js'),
  application.replaceAll(String(PORTS.application), applicationPort),
);
writeFileSync(join(folder, 'receiver.js'), withoutHead(RECEIVER));

install(SET_UP[0]);
install(toConsole);
writeToReadme(shell(`$ ${COMMAND}`, ...(await run(COMMAND)).split('\n')));
install(toRegister);
const receiver = await start(RECEIVE);
const served = await run(SERVE);
const received = await receiver.end();
console.log(received);
const found =
  /^GET \/report {2}([\d.]+) ms$(?:\n +.*)*\n +event-loop-blocked {2}([\d.]+) ms {2}renderReport app\.js (\d+)$/m.exec(
    received,
  );
if (found === null) throw new Error('no block of renderReport under its request');
const [request, block] = found.slice(1).map((millis) => `${Math.round(Number(millis))} ms`);
// It is cut before the summary.
const [registered] = served.split('\nevent-loop-blocked: ');
writeToReadme(shell(`$ ${REGISTER.replace('\n', '\n  ')}`, ...registered.split('\n')));
writeToReadme(
  fenced(
    '',
    [
      `GET /report                ${request}`,
      `└─ event-loop-blocked      ${block}   code.function.name     renderReport`,
      ['code.file.path', '/app/app.js'],
      ['code.line.number', found[3]],
      ['event_loop.block.kind', 'callback'],
    ]
      .map((line) =>
        typeof line === 'string' ? line : `${' '.repeat(36)}${line[0].padEnd(23)}${line[1]}`,
      )
      .join('\n'),
  ),
);
writeToReadme(fenced('js', application));

if (!options.check) {
  const page = 'docs/getting-started.md';
  const setUp = fenced('sh', ['mkdir shop && cd shop', ...SET_UP].join('\n'));
  write(page, 'set-up', `With Node.js ${process.versions.node}:\n\n${setUp}`);
  const [first, ...rest] = received.split('\n');
  write(page, 'receive', shell(`$ ${RECEIVE}`, first));
  write(page, 'run', shell(`$ ${SERVE.replace('\n', '\n  ')}`, ...registered.split('\n')));
  write(page, 'received', fenced('', rest.join('\n')));
}
