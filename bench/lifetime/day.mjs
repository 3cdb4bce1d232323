// Guarantees: the memory of a process after as many blocks as a day has if each minute has one.
// Time is compressed: the blocks follow each other at once.
import { getJson } from '../../tools/http-client.cjs';
import { startSink } from '../peers/sink.mjs';
import { startPeer } from '../support/service-client.mjs';

const BLOCKS = 24 * 60;
const PARTS = 4;
/** LiveKit's monitor finds blocks that are longer than its threshold and its interval of 20 ms. */
const BLOCK_MILLIS = 45;
const THRESHOLD_MILLIS = 20;
/** Each uses most of a CPU. */
const AT_A_TIME = 2;
const SUBJECTS = [
  'nothing',
  'this package, with its span processor',
  '@sentry/node-native',
  '@livekit/agents, event loop monitor',
];

/** @typedef {{ heap: number, rss: number }} Memory bytes, after a collection */

/** @type {import('../lifetime.mjs').Part} */
export async function measureDay({ path, version, report }) {
  const sink = await startSink();
  const env = {
    ...sink.env,
    BENCH_THRESHOLD_MILLIS: String(THRESHOLD_MILLIS),
    // Otherwise most blocks of a minute, or of an hour, would not be reported.
    OTEL_INSTRUMENTATION_EVENT_LOOP_MAX_SPANS_PER_MINUTE: '60000',
    BENCH_SENTRY_EVENTS_PER_HOUR: '1000000',
    BENCH_SENTRY_DSN: sink.dsn,
  };
  const left = [...SUBJECTS];
  /** @type {Record<string, Memory[]>} */
  const memory = {};
  const work = async () => {
    for (let name = left.shift(); name !== undefined; name = left.shift())
      memory[name] = await live(path, name, env);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  sink.close();
  const mb = (/** @type {number} */ bytes) => (bytes / 1e6).toFixed(1);
  report.table(
    `Node.js ${version}: MB after a collection; ${BLOCKS} blocks of ${BLOCK_MILLIS} ms`,
    ['', 'heap, first quarter', 'heap, all', 'grown', 'RSS, first quarter', 'RSS, all'],
    SUBJECTS.map((name) => {
      const [, first, ...others] = memory[name];
      const last = /** @type {Memory} */ (others.at(-1));
      return [
        name,
        mb(first.heap),
        mb(last.heap),
        mb(last.heap - first.heap),
        mb(first.rss),
        mb(last.rss),
      ];
    }),
    memory,
  );
}

/** @returns {Promise<Memory[]>} before the first block, and after each part of them */
async function live(
  /** @type {string} */ path,
  /** @type {string} */ name,
  /** @type {Record<string, string>} */ env,
) {
  const service = await startPeer(path, name, env);
  const memory = [await service.ask('collect')];
  for (let part = 0; part < PARTS; part++) {
    const url = `http://127.0.0.1:${service.port}/block/${BLOCKS / PARTS}/${BLOCK_MILLIS}`;
    await getJson(url, { timeoutMillis: 300_000 });
    memory.push(await service.ask('collect'));
  }
  await service.stop();
  return memory.map(({ heap, rss }) => ({ heap, rss }));
}
