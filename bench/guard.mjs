// Guarantees: how often `expectNoBlocks` fails healthy code on a busy machine, and how many seeded
// regressions of twice the threshold it finds there, under node:test, jest and vitest; see
// README.md. Linux.
//
//   npm run bench -- guard
//   npm run bench -- guard --runs 200 --regressions 20 --busy 10 --threshold 50
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median, quantile } from '../tools/statistics.cjs';
import pieces from './guard/pieces.cjs';

const require = createRequire(import.meta.url);
const inFolder = (/** @type {string} */ file) => join(import.meta.dirname, 'guard', file);
const jest = join(require.resolve('jest/package.json'), '../bin/jest.js');
const vitest = join(require.resolve('vitest/package.json'), '../vitest.mjs');

/** Uses a CPU until its parent has gone. */
const BUSY = `
  const { ppid } = process;
  const work = () => {
    for (const end = performance.now() + 100; performance.now() < end; );
    if (process.ppid === ppid) setImmediate(work);
  };
  work();
`;

/** Each is a process that runs beside the others, with its share of the cases. */
const RUNNERS = [
  { name: 'node:test', share: 0.23, args: [inFolder('node-test.mjs')] },
  { name: 'node:test', share: 0.22, args: [inFolder('node-test.mjs')] },
  { name: 'node:test', share: 0.21, args: [inFolder('node-test.mjs')] },
  { name: 'jest', share: 0.09, args: [jest, '-i', '-c', inFolder('jest.config.cjs')] },
  { name: 'jest', share: 0.09, args: [jest, '-i', '-c', inFolder('jest.config.cjs')] },
  { name: 'vitest', share: 0.08, args: vitestArgs('forks') },
  { name: 'vitest, threads', share: 0.08, args: vitestArgs('threads') },
];

function vitestArgs(/** @type {string} */ pool) {
  return [vitest, 'run', `--pool=${pool}`, '--config', inFolder('vitest.config.mjs')];
}

/** @type {import('./support/registry.mjs').Bench} */
export default {
  name: 'guard',
  about: 'false failures of expectNoBlocks on a busy machine, and regressions that it finds',
  minutes: 12,
  options: {
    runs: { type: 'string', default: '1000' },
    regressions: { type: 'string', default: '100' },
    busy: { type: 'string', default: '10' },
    threshold: { type: 'string', default: '50' },
  },
  async run({ nodes, options, report }) {
    const [runs, regressions, busy, thresholdMillis] = [
      options.runs,
      options.regressions,
      options.busy,
      options.threshold,
    ].map(Number);
    for (const node of nodes) {
      const folder = mkdtempSync(join(tmpdir(), 'event-loop-guard-'));
      /** @type {import('node:child_process').ChildProcess[]} */
      const busyProcesses = [];
      try {
        const setup = { thresholdMillis, unitsPerMilli: pieces.unitsPerMilli() };
        const files = { setup: join(folder, 'setup.json'), results: join(folder, 'results.jsonl') };
        const { results } = files;
        writeFileSync(files.setup, JSON.stringify({ ...setup, results }));
        writeFileSync(results, '');
        const total = runs + regressions;
        const every = regressions === 0 ? 0 : Math.max(2, Math.floor(total / regressions));
        for (let i = 0; i < busy; i++)
          busyProcesses.push(spawn(node.path, ['-e', BUSY], { stdio: 'ignore' }));
        let from = 0;
        const start = performance.now();
        await Promise.all(
          RUNNERS.map(({ name, args, share }, i) => {
            const until = i === RUNNERS.length - 1 ? total : from + Math.round(share * total);
            const cases = [from, until, every];
            from = until;
            return runCases(node.path, files.setup, args, cases, name);
          }),
        );
        const minutes = (performance.now() - start) / 60_000;
        const verdicts = readFileSync(results, 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line));
        tell(report, node.version, verdicts, thresholdMillis, minutes);
      } finally {
        for (const process of busyProcesses) process.kill('SIGKILL');
        rmSync(folder, { recursive: true, force: true });
      }
    }
  },
};

async function runCases(
  /** @type {string} */ node,
  /** @type {string} */ setup,
  /** @type {string[]} */ args,
  /** @type {number[]} */ cases,
  /** @type {string} */ runner,
) {
  const env = { ...process.env, GUARD_SETUP: setup, GUARD_CASES: cases.join(' ') };
  const child = spawn(node, args, {
    env: { ...env, GUARD_RUNNER: runner, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${args[0]} failed: ${output.slice(-4000)}`);
}

function tell(
  /** @type {import('./support/report.mjs').Report} */ report,
  /** @type {string} */ version,
  /** @type {any[]} */ verdicts,
  /** @type {number} */ thresholdMillis,
  /** @type {number} */ minutes,
) {
  /** What took the threshold by its own, in spite of what it takes on a quiet machine. */
  const isSlow = (/** @type {any} */ { ran }) =>
    ran.some(
      (/** @type {any} */ { millis, waitedMillis }) => millis - waitedMillis >= thresholdMillis,
    );
  const names = [...new Set(verdicts.map(({ name }) => name))];
  const rowOf = (/** @type {any[]} */ some) => {
    const healthy = some.filter(({ isRegression }) => !isRegression);
    const seeded = some.filter(({ isRegression }) => isRegression);
    const failed = healthy.filter(({ blocks }) => blocks);
    return {
      healthy: healthy.length,
      slow: healthy.filter(isSlow).length,
      failed: failed.length,
      seeded: seeded.length,
      found: seeded.filter(({ blocks }) => blocks).length,
      millis: median(some.map(({ took }) => took)),
      waited: quantile(
        some.map(({ ran }) => Math.max(...ran.map((/** @type {any} */ r) => r.waitedMillis))),
        0.9,
      ),
    };
  };
  const rows = [...names.map((name) => [name, verdicts.filter((one) => one.name === name)])];
  rows.push(['all', verdicts]);
  report.table(
    `Node.js ${version}: threshold ${thresholdMillis} ms, ${minutes.toFixed(1)} minutes`,
    ['code', 'healthy', 'slow', 'failed', 'seeded', 'found', 'ms a run', 'waited, p90'],
    rows.map(([name, some]) => {
      const row = rowOf(/** @type {any[]} */ (some));
      const { healthy, slow, failed, seeded, found, millis, waited } = row;
      const cells = [healthy, slow, failed, seeded, found, Math.round(millis), Math.round(waited)];
      return [String(name), ...cells.map(String)];
    }),
    verdicts.filter(
      (one) => (one.isRegression && !one.blocks) || (!one.isRegression && one.blocks),
    ),
  );
  const { healthy, failed, seeded, found } = rowOf(verdicts);
  report.note(`false failures: ${failed} of ${healthy}; regressions found: ${found} of ${seeded}`);
}
