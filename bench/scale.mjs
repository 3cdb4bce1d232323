// Promises: how cost and memory grow with what a service has much of: requests under way, depth of async chains, open spans, blocks; see
// README.md.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { interval } from './statistics.mjs';

/** What grows, how it is told, and with which digits. */
const SERIES = [
  {
    name: 'requests',
    title: 'requests under way at the same time: µs of CPU a request, KiB of heap all of them take',
  },
  { name: 'chain', title: 'depth of a chain of async functions that await each other: ns a level' },
  {
    name: 'spans',
    title: 'open spans, with EventLoopSpanProcessor: ns from start to end, bytes of heap each',
  },
  {
    name: 'blocks',
    title: 'blocks of 1.5 ms in a second, at thresholdMillis 1: ms of CPU in a second, told of made',
  },
];

/** @type {import('./registry.mjs').Bench} */
export default {
  name: 'scale',
  about: 'cost and memory against requests, chains, spans and blocks',
  minutes: 2,
  options: {
    only: { type: 'string', multiple: true, default: SERIES.map(({ name }) => name) },
    rounds: { type: 'string', default: '12' },
  },
  async run({ nodes, options, report }) {
    for (const { path, version } of nodes) {
      for (const { name, title } of SERIES.filter((series) => options.only.includes(series.name))) {
        const points = measure(path, name, options.rounds);
        report.table(
          `Node.js ${version}: ${title}`,
          ['', 'off', 'added', ...points[0].extra.map((/** @type {any} */ { name: column }) => column)],
          points.map(({ size, off, added, digits, extra }) => [
            String(size),
            off.toFixed(digits),
            interval(added, digits),
            ...extra.map((/** @type {any} */ { text }) => text),
          ]),
          points,
        );
      }
    }
  },
};

/** A process for each: what one leaves behind must not weigh on the next. */
function measure(/** @type {string} */ path, /** @type {string} */ name, /** @type {string} */ rounds) {
  const script = join(import.meta.dirname, 'measure-scale.mjs');
  const { status, stdout, error } = spawnSync(path, ['--expose-gc', script, name, rounds], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0)
    throw new Error(`${path} failed to measure ${name}: ${error?.message ?? `status ${status}`}`);
  return JSON.parse(stdout);
}
