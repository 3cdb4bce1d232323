// `npm run check -- stack`: builds the real servers if they are not there yet, starts them with the
// shipped configuration, and tests the whole chain. `-- --reduced` is what four minutes on a cold
// cache allow: the files, the service and the collector; it says what it leaves out. What else is
// given goes to jest: `-- chain`, `-- -t Jaeger`. The last line counts the tests. No server
// outlives this process.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readResults } from '../matrix/results.mjs';
import { install, SERVERS } from './servers/install.mjs';

const ROOT = join(import.meta.dirname, '../..');
const STATE = join(ROOT, '.stack');
const RESULTS = join(STATE, 'results.json');
const REDUCED = '--reduced';
const REDUCED_TESTS = ['configuration', 'collector'];
const LEFT_OUT =
  'reduced: without Jaeger and Prometheus (traces and metrics as they store them, rules, ' +
  'tail sampling)';

const jestArguments = process.argv.slice(2).filter((argument) => argument !== REDUCED);
const reduced = process.argv.includes(REDUCED);
const say = (line) => process.stderr.write(`${line}\n`);

/** A signal ends the child, and with it every server, before it ends this process. */
async function run(command, args, env = {}) {
  const child = spawn(command, args, {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  const forward = (signal) => child.kill(signal);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, forward);
  const [code, signal] = await once(child, 'exit');
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.off(name, forward);
  return code ?? (signal ? 1 : 0);
}

async function prepare() {
  const needed = reduced ? ['collector'] : Object.keys(SERVERS);
  for (const name of needed) await install(name, say);
  if (reduced) say(LEFT_OUT);
}

mkdirSync(STATE, { recursive: true });
rmSync(join(STATE, 'data'), { recursive: true, force: true });
rmSync(RESULTS, { force: true });
try {
  await prepare();
} catch (error) {
  say(error.message);
  process.exit(1);
}
const code = await run(
  process.execPath,
  [
    '--experimental-vm-modules', // for jest to take ES modules as they are
    '--disable-warning=ExperimentalWarning',
    join(ROOT, 'node_modules/jest/bin/jest.js'),
    ...['--selectProjects', 'stack', '--maxWorkers=1', '--testTimeout=180000'],
    '--verbose',
    '--json',
    `--outputFile=${RESULTS}`,
    ...(reduced ? REDUCED_TESTS : []),
    ...jestArguments,
  ],
  reduced ? { STACK_REDUCED: '1' } : {},
);
rmSync(join(STATE, 'data'), { recursive: true, force: true });
const { passed, failed, skipped } = readResults(RESULTS);
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = code === 0 && failed === 0 && passed > 0 ? 0 : 1;
