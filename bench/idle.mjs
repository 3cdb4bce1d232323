// Guarantees: what the instrumentation costs a service without requests: CPU, memory, wake-ups,
// threads; see README.md. Linux only (/proc).
//
//   npm run bench -- idle --node .matrix/node-24/node_modules/.bin/node --rounds 5 --seconds 20
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../tools/harness.cjs';
import { median } from '../tools/statistics.cjs';

const SERVICE = join(import.meta.dirname, 'idle/service.mjs');
/** Of the service. */
const SUBJECTS = ['nothing', 'a 20 ms timer', 'this package, captureStack: false', 'this package'];

/**
 * @typedef {{ cpu: number, rss: number, wakeUps: number, threads: number }} Reading percent of one
 *   core, MB, per second
 */

/** @type {import('./support/registry.mjs').Bench} */
export default {
  name: 'idle',
  about: 'CPU, memory and wake-ups of a service without requests (Linux)',
  minutes: 4,
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '10' },
    settle: { type: 'string', default: '60' },
  },
  async run({ nodes, options, report }) {
    if (process.platform !== 'linux') return report.note('Linux only: it reads /proc');
    const [rounds, seconds, settleSeconds] = [options.rounds, options.seconds, options.settle].map(
      Number,
    );
    for (const { path, version } of nodes) {
      /** @type {Record<string, Reading>[]} */
      const readings = [];
      for (let round = 0; round < rounds; round++) {
        // At the same time: they hardly run, and live through the same seconds.
        const pairs = SUBJECTS.map(async (subject) => [
          subject,
          await read(path, subject, seconds, settleSeconds),
        ]);
        readings.push(Object.fromEntries(await Promise.all(pairs)));
      }
      report.table(
        `Node.js ${version}: median [least, most]`,
        ['', 'CPU, % of a core', 'more', 'RSS, MB', 'more', 'wake-ups/s', 'threads'],
        SUBJECTS.map((subject) => row(subject, readings)),
        readings,
      );
    }
  },
};

/** @returns {Promise<Reading>} */
async function read(
  /** @type {string} */ path,
  /** @type {string} */ subject,
  /** @type {number} */ seconds,
  /** @type {number} */ settleSeconds,
) {
  const service = fork(SERVICE, [subject], {
    execPath: path,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  /** @returns {Promise<{ at: number, cpu: number, rss: number }>} milliseconds, µs, bytes */
  const ask = () => {
    service.send('read');
    return messageOf(service);
  };
  await messageOf(service);
  const pid = /** @type {number} */ (service.pid);
  await sleep(settleSeconds * 1000);
  const before = await ask();
  const switchesBefore = threads(pid);
  await sleep(seconds * 1000);
  const switches = threads(pid);
  const after = await ask();
  service.kill('SIGKILL');
  await once(service, 'exit');
  const sum = (/** @type {number[]} */ values) => values.reduce((total, value) => total + value, 0);
  return {
    cpu: ((after.cpu - before.cpu) / 1000 / (after.at - before.at)) * 100,
    rss: after.rss / 1e6,
    wakeUps: (sum(switches) - sum(switchesBefore)) / seconds,
    threads: switches.length,
  };
}

/** Voluntary context switches of each thread: a thread makes one whenever it goes to sleep. */
function threads(/** @type {number} */ pid) {
  return readdirSync(`/proc/${pid}/task`).map((task) => {
    const status = readFileSync(`/proc/${pid}/task/${task}/status`, 'utf8');
    return Number(/^voluntary_ctxt_switches:\s*(\d+)/m.exec(status)?.[1]);
  });
}

function row(/** @type {string} */ subject, /** @type {Record<string, Reading>[]} */ readings) {
  const cell = (
    /** @type {(read: Reading, base: Reading) => number} */ value,
    /** @type {number} */ digits,
  ) => {
    const values = readings.map((read) => value(read[subject], read['nothing']));
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return `${median(values).toFixed(digits)} [${low.toFixed(digits)}, ${high.toFixed(digits)}]`;
  };
  return [
    subject,
    cell(({ cpu }) => cpu, 2),
    cell(({ cpu }, base) => cpu - base.cpu, 2),
    cell(({ rss }) => rss, 1),
    cell(({ rss }, base) => rss - base.rss, 1),
    cell(({ wakeUps }) => wakeUps, 0),
    cell(({ threads }) => threads, 0),
  ];
}
