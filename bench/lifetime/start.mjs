// Guarantees: how long a service takes to start under each tool, and the memory that it has then.
import { setTimeout as sleep } from 'node:timers/promises';
import { estimate, interval, median } from '../../tools/statistics.cjs';
import { baselineOf, PEER_SUBJECTS } from '../peers/service-subjects.mjs';
import { startSink } from '../peers/sink.mjs';
import { startPeer } from '../support/service-client.mjs';

/** Threads have started. */
const SETTLE_MILLIS = 1000;

/** @typedef {{ millis: number, rss: number }} Start milliseconds from fork to listening, bytes */

/** @type {import('../lifetime.mjs').Part} */
export async function measureStart({ path, version, options, report }) {
  const names = Object.keys(PEER_SUBJECTS).filter((name) => options.subjects.includes(name));
  /** @type {Map<string, Start[]>} */
  const starts = new Map(names.map((name) => [name, []]));
  const sink = await startSink();
  for (let round = 0; round < Number(options.rounds); round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed())
      starts.get(name)?.push(await start(path, name, sink.env));
  }
  sink.close();
  report.table(
    `Node.js ${version}: start of the service, and memory ${SETTLE_MILLIS} ms later, after a collection`,
    ['', 'start, ms', 'added', 'RSS, MB', 'added'],
    names.map((name) => {
      const [own, base] = [name, baselineOf(name)].map((each) => starts.get(each) ?? []);
      const cells = (/** @type {(each: Start) => number} */ of) => [
        median(own.map(of)).toFixed(0),
        own === base ? '' : interval(estimate(own.map((each, i) => of(each) - of(base[i]))), 0),
      ];
      return [name, ...cells(({ millis }) => millis), ...cells(({ rss }) => rss / 1e6)];
    }),
    Object.fromEntries(starts),
  );
}

/** @returns {Promise<Start>} */
async function start(
  /** @type {string} */ path,
  /** @type {string} */ name,
  /** @type {Record<string, string>} */ env,
) {
  const before = performance.now();
  const service = await startPeer(path, name, env);
  const millis = performance.now() - before;
  await sleep(SETTLE_MILLIS);
  const { rss } = await service.ask('collect');
  await service.stop();
  return { millis, rss };
}
