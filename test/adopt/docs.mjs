// Guarantees: each command of README.md and docs/ works, typed by a shell, with the packed tarball
// and what the pages say is installed. The application is that of README.md; it asks itself for
// `/report` and presses Ctrl-C, and each command that starts it has to tell the block: on the
// console, in a file that the command names, or by OTLP. `tools/doc-commands.cjs` says what is
// left out, and why.
//
//   npm run check -- docs
//   npm run check -- docs --only docs/console.md
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { blocksOfCommands, codeBlocks } from '../../tools/doc-commands.cjs';
import { freePort, plainEnvironment } from '../../tools/harness.cjs';
import { OtlpReceiver } from '../../tools/otlp-receiver.cjs';
import { pack } from '../../tools/pack.cjs';
import { PACKAGE_NAME } from '../../tools/paths.cjs';

const FUNCTION = 'renderReport';
const FILES = /\.(?:jsonl|html)$/;
const TIMEOUT_MILLIS = 120_000;
/** The watchdog thread starts some 50 ms after the loop began to turn, on an idle machine. */
const WARM_UP_MILLIS = 1000;

const { values: options } = parseArgs({ options: { only: { type: 'string', default: '' } } });

const tarball = pack().path;
const folder = mkdtempSync(join(tmpdir(), 'docs-'));
const receiver = await OtlpReceiver.listen();
const port = await freePort();
const healthPort = await freePort();
let failures = 0;
let passed = 0;
try {
  writeApplication();
  for (const { where, commands, reason } of blocksOfCommands()) {
    const isWanted = where.startsWith(options.only) || commands.some(isInstall);
    if (reason !== undefined) console.log(`${where}: not run, ${reason}`);
    else if (isWanted) await run(where, commands);
  }
} finally {
  receiver.close();
  rmSync(folder, { recursive: true, force: true });
}
console.log(`\n${passed} passed, ${failures} failed`);
process.exitCode = failures > 0 || passed === 0 ? 1 : 0;

function isInstall(/** @type {string} */ command) {
  return /^npm |^mkdir /.test(command);
}

/** README.md's, under each name that the pages have for it, and what else they have by name. */
function writeApplication() {
  const [example] = codeBlocks('README.md').filter(({ language }) => language === 'js');
  const ask = `setTimeout(async () => {
    await fetch('http://localhost:${port}/report');
    setTimeout(() => process.kill(process.pid, 'SIGINT'), 500);
  }, ${WARM_UP_MILLIS});`;
  const application = example?.text.replaceAll('3000', `${port}`) + ask;
  for (const name of ['app.js', 'server.js']) writeFileSync(join(folder, name), application);
  const [otel] = codeBlocks('docs/distributions.md').filter(({ language }) => language === 'yaml');
  writeFileSync(join(folder, 'otel.yaml'), otel?.text ?? '');
  const manifest = { name: 'shop', private: true, scripts: { start: 'node app.js' } };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  mkdirSync(join(folder, 'opt'));
}

async function run(/** @type {string} */ where, /** @type {string[]} */ commands) {
  const started = performance.now();
  const problem = await tryOut(commands).catch((/** @type {Error} */ error) => error.message);
  if (problem === undefined) passed++;
  else failures++;
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  console.log(`${where}: ${problem ?? 'passed'}, ${seconds} s`);
}

/**
 * What only sets variables is followed by the start of the application, as the pages say.
 * @returns {Promise<string | undefined>} what went wrong
 */
async function tryOut(/** @type {string[]} */ commands) {
  const installs = commands.filter(isInstall);
  const exports = commands.filter((command) => command.startsWith('export '));
  const starts = commands.filter((command) => !isInstall(command) && !exports.includes(command));
  if (installs.length > 0) {
    const script = installs.join('\n').replaceAll(` ${PACKAGE_NAME}`, ` file:${tarball}`);
    const { status, said } = await shell(`set -e\n${script}`);
    if (status !== 0) return said;
  } else if (starts.length === 0) starts.push('node app.js');
  for (const start of starts) {
    const problem = await tellsTheBlock([...exports, start].join('\n'));
    if (problem !== undefined) return `${start}\n${problem}`;
  }
}

/** @returns {Promise<string | undefined>} what went wrong */
async function tellsTheBlock(/** @type {string} */ script) {
  const before = receiver.bodies('/v1/traces').length;
  const { said } = await shell(
    script
      .replaceAll('http://collector:4318', receiver.url)
      .replaceAll('13134', `${healthPort}`)
      .replace(/…$/, `--import ${PACKAGE_NAME}/register app.js`),
  );
  const files = readdirSync(folder).filter((name) => FILES.test(name));
  const written = files.map((name) => readFileSync(join(folder, name), 'utf8'));
  for (const name of files) rmSync(join(folder, name));
  if (/\.(?:jsonl|html)\b/.test(script) && !written.some((content) => content !== ''))
    return `no file is written: ${said}`;
  // In protobuf too, a name stands as it is.
  const sent = receiver.bodies('/v1/traces').slice(before).map(String);
  if ([said, ...sent, ...written].some((each) => each.includes(FUNCTION))) return;
  return `nobody tells the block: ${said}`;
}

/** Types what the pages say into a shell; folders outside of the application are made in it. */
async function shell(/** @type {string} */ script) {
  const typed = script
    .replaceAll('/opt/', `${join(folder, 'opt')}/`)
    .replaceAll('/tmp/', `${folder}/`);
  const child = spawn('bash', ['-c', typed], {
    cwd: folder,
    env: {
      ...plainEnvironment(),
      PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
      npm_config_prefer_offline: 'true',
      npm_config_audit: 'false',
      npm_config_fund: 'false',
      ...receiver.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: TIMEOUT_MILLIS,
  });
  const closed = new Promise((resolve) => child.on('close', resolve));
  const [out, err, status] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { status, said: `${out}${err}`.trim() };
}
