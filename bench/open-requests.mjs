// Guarantees: what the package adds to the CPU and the p99 of a request while iterations of the
// event loop take 50 to 500 ms, for few and for many open requests; see README.md.
//
//   npm run bench -- open-requests --rounds 1 --open 20
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { estimate, interval, median, quantile } from '../tools/statistics.cjs';
import { openLoop } from './load/open-loop.mjs';
import { chart } from './open-requests/chart.mjs';
import { NO_MEMORY_REDUCER, startService } from './support/service-client.mjs';

const SUBJECT = 'span processor, on and off';
/** Requests that come together, and whose answers are computed in one iteration. */
const BURSTS = [17, 50, 100, 167];
/** Some 2.3 ms of CPU, with what the service itself takes some 3. */
const UNITS = 80;
/** 250 requests and 1000 spans a second: the next burst comes when this one is worked off. */
const MILLIS_PER_REQUEST = 4;
const WARM_UP_CYCLES = 2;
const MORE_THAN_ALL = 10_000;

/** @typedef {{ cpu: number, latencies: number[], open: number }} Reading microseconds, ms */

/** @type {import('./support/registry.mjs').Bench} */
export default {
  name: 'open-requests',
  about: 'CPU and p99 of a request in an overload, by the number of open requests',
  minutes: 6,
  options: {
    open: { type: 'string', multiple: true, default: ['20', '200', '2000'] },
    rounds: { type: 'string', default: '4' },
    /** Of the BURSTS, in one reading. */
    cycles: { type: 'string', default: '6' },
    svg: { type: 'string' },
  },
  async run({ nodes, options, report }) {
    for (const { path, version } of nodes) {
      const points = [];
      for (const open of options.open) {
        const readings = await measure(
          path,
          Number(open),
          Number(options.rounds),
          Number(options.cycles),
        );
        points.push({ open: Number(open), ...summarize(readings), readings });
      }
      report.table(
        `Node.js ${version}: a request without the package, and with it; 1000 spans/s`,
        ['open requests', 'really', 'CPU, µs', 'with', 'CPU, with/without', 'p99, ms', 'with'],
        points.map(({ open, really, cpu, p99 }) => [
          String(open),
          really.toFixed(0),
          cpu.off.toFixed(0),
          cpu.on.toFixed(0),
          interval(cpu.ratio, 3),
          p99.off.toFixed(0),
          p99.on.toFixed(0),
        ]),
        points,
      );
      if (options.svg) writeFileSync(options.svg, chart(points));
    }
  },
};

/** @returns {Promise<Record<'on' | 'off', Reading[]>>} */
async function measure(
  /** @type {string} */ path,
  /** @type {number} */ open,
  /** @type {number} */ rounds,
  /** @type {number} */ cycleCount,
) {
  const service = await startService(path, SUBJECT, NO_MEMORY_REDUCER);
  // Little's law; the computation itself takes some more.
  const waitMillis = open * MILLIS_PER_REQUEST;
  const read = async (/** @type {number} */ cycles) => {
    const load = openLoop(service.port, {
      path: `/wait/${waitMillis}/compute/${UNITS}`,
      due: bursts(cycles, waitMillis),
      connections: MORE_THAN_ALL,
    });
    // As many are open as will be: from now on it counts.
    await sleep(waitMillis);
    const before = await service.ask('read');
    const { latencies, open: opened } = await load;
    const after = await service.ask('read');
    return {
      cpu: (after.cpu - before.cpu) / (after.requests - before.requests),
      latencies,
      open: median(opened),
    };
  };
  /** @type {Record<'on' | 'off', Reading[]>} */
  const readings = { on: [], off: [] };
  try {
    await read(WARM_UP_CYCLES);
    for (let round = 0; round < rounds; round++) {
      for (const state of /** @type {('on' | 'off')[]} */ (
        round % 2 === 0 ? ['off', 'on'] : ['on', 'off']
      )) {
        await service.ask(state);
        readings[state].push(await read(cycleCount));
      }
    }
    return readings;
  } finally {
    await service.stop();
  }
}

/** When requests are due: for as long as they are open, and then for the cycles that count. */
function bursts(/** @type {number} */ cycles, /** @type {number} */ waitMillis) {
  const due = [];
  const perCycle = BURSTS.reduce((sum, size) => sum + size, 0) * MILLIS_PER_REQUEST;
  const until = waitMillis + cycles * perCycle;
  for (let at = 0, i = 0; at < until; i++) {
    const size = BURSTS[i % BURSTS.length];
    due.push(...Array(size).fill(at));
    at += size * MILLIS_PER_REQUEST;
  }
  return due;
}

function summarize(/** @type {Record<'on' | 'off', Reading[]>} */ { on, off }) {
  const of = (
    /** @type {(reading: Reading) => number} */ value,
    /** @type {Reading[]} */ readings,
  ) => median(readings.map(value));
  const cpu = (/** @type {Reading} */ reading) => reading.cpu;
  const p99 = (/** @type {Reading} */ { latencies }) => quantile(latencies, 0.99);
  return {
    really: of(({ open }) => open, [...on, ...off]),
    cpu: {
      on: of(cpu, on),
      off: of(cpu, off),
      ratio: estimate(on.map((each, i) => each.cpu / off[i].cpu)),
      added: estimate(on.map((each, i) => each.cpu - off[i].cpu)),
    },
    p99: { on: of(p99, on), off: of(p99, off) },
  };
}
