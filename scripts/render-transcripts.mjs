// Promises: the transcripts in docs/ are what the commands in them print, with the package as it
// would be published and an application that has never heard of it. `npm run check -- transcripts`
// runs everything anew and writes it into the docs; with `--check` it only fails when the block of
// that application does not arrive at an OTLP receiver, with its function and line.
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
import { BLOCK_SPAN, readTraces } from '../tools/otlp.cjs';
import { OtlpReceiver } from '../tools/otlp-receiver.cjs';
import { pack } from '../tools/pack.cjs';
import { PACKAGE_NAME as PACKAGE, ROOT } from '../tools/paths.cjs';

const ENTRY = `${PACKAGE}/register`;
const CONSOLE_ENTRY = `${PACKAGE}/console`;
// As `/register` itself says, for the Node.js that runs this.
const INSTRUMENTATIONS = `@opentelemetry/auto-instrumentations-node${Number.parseInt(process.versions.node, 10) < 22 ? '@0.81' : ''}`;
const PEER = 'blocked-at@1.2.0';
const PORT = 3000;
/** The watchdog thread starts some 50 ms after the loop began to turn, on an idle machine. */
const WARM_UP_MILLIS = 1000;
const WARM_UP_REQUESTS = 20;

const { values: options } = parseArgs({ options: { check: { type: 'boolean', default: false } } });

const folder = mkdtempSync(join(tmpdir(), 'event-loop-transcript-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

/**
 * Runs the application as one would, asks it for its report, and ends it.
 * @param {string[]} nodeArguments
 * @param {Record<string, string>} env
 * @returns {Promise<string>} what it printed
 */
async function run(nodeArguments, env) {
  const child = spawn(process.execPath, [...nodeArguments, 'app.js'], {
    cwd: folder,
    env: { ...withoutTelemetry(process.env), ...env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  process.once('exit', () => child.kill('SIGKILL'));
  const printed = [];
  const listening = new Promise((found) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        printed.push(line);
        const port = /^listening on port (\d+)$/.exec(line)?.[1];
        if (port !== undefined) found(port);
      });
    }
  });
  const port = await Promise.race([listening, once(child, 'exit').then(() => undefined)]);
  if (port === undefined)
    throw new Error(`the application has not started:\n${printed.join('\n')}`);
  for (let i = 0; i < WARM_UP_REQUESTS; i++) {
    await sendOk(`http://127.0.0.1:${port}/health`);
    await wait(WARM_UP_MILLIS / WARM_UP_REQUESTS);
  }
  await sendOk(`http://127.0.0.1:${port}/report`);
  child.kill('SIGTERM');
  await once(child, 'close');
  return readable(printed.join('\n').replace(`port ${port}`, `port ${PORT}`));
}

const withoutTelemetry = (/** @type {NodeJS.ProcessEnv} */ env) =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !/^(OTEL_|NODE_OPTIONS$)/.test(name)));

/** The folder in which it ran is left out. */
const readable = (/** @type {string} */ text) => text.replaceAll(`${folder}/`, '');

/** @param {import('../tools/otlp.cjs').Trace} trace */
function tree({ rows }) {
  return rows
    .map(({ span, last }) => {
      const trunk = last.slice(0, -1).map((ended) => (ended ? '   ' : '│  '));
      const branch = last.length === 0 ? '' : last.at(-1) ? '└─ ' : '├─ ';
      const {
        'code.function.name': name,
        'code.file.path': file,
        'code.line.number': line,
      } = span.attributes;
      const code = name === undefined ? '' : `   ${name} (${readable(`${file}:${line}`)})`;
      const label = `${trunk.join('')}${branch}${span.name}`;
      return `${label.padEnd(34)} ${(span.end - span.start).toFixed(1).padStart(6)} ms${code}`;
    })
    .join('\n');
}

/** The application exports to a receiver: what has come there. */
async function exported() {
  const receiver = await OtlpReceiver.listen();
  const printed = await run(['--import', ENTRY], {
    ...receiver.env,
    OTEL_SERVICE_NAME: 'shop',
  });
  receiver.close();
  const traces = readTraces(receiver.spans);
  const trace = traces.find(({ rows }) => rows.some(({ span }) => isTheBlock(span)));
  if (trace === undefined || trace.root.attributes['http.route'] !== '/report') {
    throw new Error(
      `no block of renderReport under its request among:\n${traces.map(tree).join('\n')}`,
    );
  }
  return { printed, trace };
}

const isTheBlock = (/** @type {import('../tools/otlp.cjs').Span} */ { name, attributes }) =>
  name === BLOCK_SPAN &&
  attributes['code.function.name'] === 'renderReport' &&
  attributes['code.file.path'].endsWith('/app.js') &&
  attributes['code.line.number'] > 0;

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

const shell = (/** @type {string[]} */ ...lines) => `\`\`\`console\n${lines.join('\n')}\n\`\`\``;

const tarball = pack();
writeFileSync(join(folder, 'package.json'), '{ "private": true }');
copyFileSync(join(ROOT, 'examples/plain-express.cjs'), join(folder, 'app.js'));
npm(['install', 'express@5'], folder);
npm(['install', tarball.path, INSTRUMENTATIONS], folder);
const { printed, trace } = await exported();
console.log(tree(trace));

if (!options.check) {
  const app = readFileSync(join(ROOT, 'examples/plain-express.cjs'), 'utf8');
  write('docs/getting-started.md', 'application', `\`\`\`js\n${app.trim()}\n\`\`\``);
  write(
    'docs/getting-started.md',
    'run',
    [
      `Node.js ${process.versions.node}:`,
      shell(
        `$ npm install ${PACKAGE} ${INSTRUMENTATIONS}`,
        `$ OTEL_SERVICE_NAME=shop OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 \\`,
        `    node --import ${ENTRY} app.js`,
        ...printed.split('\n'),
      ),
      'From another terminal:',
      shell(`$ curl -s localhost:${PORT}/report >/dev/null`),
      'The receiver at port 4318 gets this trace:',
      `\`\`\`\n${tree(trace)}\n\`\`\``,
    ].join('\n\n'),
  );

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
  const ours = await run(['--import', CONSOLE_ENTRY], {});
  const theirs = await run(['--require', './blocked.js'], {});
  write(
    'docs/console.md',
    'this package',
    shell(`$ node --import ${CONSOLE_ENTRY} app.js`, ...ours.split('\n')),
  );
  write(
    'docs/console.md',
    'blocked-at',
    [
      `\`blocked.js\`:\n\n\`\`\`js\n${readFileSync(join(folder, 'blocked.js'), 'utf8').trim()}\n\`\`\``,
      shell('$ node --require ./blocked.js app.js', ...theirs.split('\n')),
    ].join('\n\n'),
  );
}
