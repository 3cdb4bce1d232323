// Guarantees: each folder of examples/ runs, with the packed tarball and its own dependencies from
// npm, and what it shows is seen: the block of `renderReport` in the trace of its request, the
// message at the webhook, the test that the guard fails.
//
//   npm run check -- examples                       all; NestJS and Next.js take a minute
//   npm run check -- examples --quick               those with few dependencies
//   npm run check -- examples --only lambda,webhook
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { eventually, freePort } from '../../tools/harness.cjs';
import { npm } from '../../tools/npm.cjs';
import { OtlpReceiver } from '../../tools/otlp-receiver.cjs';
import { pack } from '../../tools/pack.cjs';
import { PACKAGE_NAME, ROOT } from '../../tools/paths.cjs';

const EXAMPLES = join(ROOT, 'examples');
const QUICK = ['lambda', 'vitest-guard', 'webhook'];
const SERVER_KIND = 2;
const PATIENCE_MILLIS = 60_000;

const { values: options } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, only: { type: 'string' } },
});
const folders = readdirSync(EXAMPLES, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
const chosen = options.only?.split(',') ?? (options.quick ? QUICK : folders);

npm(['run', 'build'], ROOT);
const tarball = pack().path;
const work = mkdtempSync(join(tmpdir(), 'examples-'));
let failures = 0;
try {
  for (const name of chosen) {
    const started = performance.now();
    const problem = await run(name).catch((/** @type {Error} */ error) => error.message);
    if (problem) failures++;
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    console.log(`${name}: ${problem ?? 'passed'}, ${seconds} s`);
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
console.log(`\n${chosen.length - failures} passed, ${failures} failed`);
process.exitCode = failures > 0 || chosen.length === 0 ? 1 : 0;

/** @returns {Promise<string | undefined>} what is wrong with it */
async function run(/** @type {string} */ name) {
  const folder = join(work, name);
  cpSync(join(EXAMPLES, name), folder, { recursive: true });
  const file = join(folder, 'package.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8'));
  const { scripts } = manifest;
  for (const kind of ['dependencies', 'devDependencies'])
    if (manifest[kind]?.[PACKAGE_NAME]) manifest[kind][PACKAGE_NAME] = `file:${tarball}`;
  writeFileSync(file, JSON.stringify(manifest));
  npm(['install', '--prefer-offline', '--no-package-lock'], folder);
  if (scripts.build) npm(['run', 'build'], folder);
  if (scripts.test) {
    npm(['test'], folder);
    return;
  }
  const receiver = await OtlpReceiver.listen();
  const port = await freePort();
  const app = spawn(scripts.start, {
    cwd: folder,
    shell: true,
    detached: true, // a group, since some start others
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      ...receiver.env,
      PATH: `${join(folder, 'node_modules/.bin')}:${process.env.PATH}`,
      PORT: `${port}`,
      WEBHOOK_URL: `${receiver.url}/webhook`,
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_LOGS_EXPORTER: 'none',
      OTEL_BSP_SCHEDULE_DELAY: '200',
    },
  });
  let said = '';
  for (const stream of [app.stdout, app.stderr])
    stream.on('data', (/** @type {Buffer} */ data) => (said += data));
  try {
    const url = `http://127.0.0.1:${port}/report`;
    if (name !== 'lambda') await visit(url);
    await eventually('the block is seen', PATIENCE_MILLIS, async () => {
      if (name !== 'webhook') return seesBlock(receiver);
      // On a busy machine a block may have no function, and is not in a message then.
      await (await fetch(url)).text();
      return seesMessage(receiver);
    });
  } catch (error) {
    const names = receiver.spans.map((span) => span.name).join(', ');
    return `${error.message}, in: ${names}\n${said}`;
  } finally {
    try {
      process.kill(-(/** @type {number} */ (app.pid)), 'SIGKILL');
    } catch {
      // It has ended.
    }
    receiver.close();
  }
}

/** Asks until it answers; the first second is left to the thread that watches. */
async function visit(/** @type {string} */ url) {
  await eventually(`${url} answers`, PATIENCE_MILLIS, async () => (await fetch(url)).ok);
  await pause(1000);
  await (await fetch(url)).text();
}

function seesBlock(/** @type {OtlpReceiver} */ receiver) {
  return receiver.named('event-loop-blocked').some(({ traceId, attributes }) => {
    const isEntry = (/** @type {any} */ span) =>
      span.traceId === traceId && span.kind === SERVER_KIND;
    return (
      attributes['code.function.name']?.includes('renderReport') && receiver.spans.some(isEntry)
    );
  });
}

function seesMessage(/** @type {OtlpReceiver} */ receiver) {
  const messages = receiver.bodies('/webhook').map(String);
  const wrong = messages.find((message) => message.includes('undefined'));
  if (wrong !== undefined) throw new Error(`a message says ${wrong}`);
  return messages.some((message) => /^\{"text":"renderReport \(/.test(message));
}
