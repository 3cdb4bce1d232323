// Guarantees: what a log event adds to the report of a block, with the SDK for logs; see README.md.
//
//   npm run bench -- block-events --blocks 500 --node .matrix/node-24/node_modules/.bin/node
import { estimate, interval } from '../tools/statistics.cjs';
import { answerInFreshProcess, measureInFreshProcess } from './support/fresh-process.mjs';

const WARM_UP_BLOCKS = 50;
const BLOCK_MILLIS = 15;

/** @type {import('./support/registry.mjs').Bench} */
export default {
  name: 'block-events',
  about: 'µs that a log event adds to the report of a block',
  minutes: 1,
  options: { blocks: { type: 'string', default: '300' } },
  async run({ nodes, options, report }) {
    for (const { path, version } of nodes) {
      const measured = measureInFreshProcess(import.meta.url, path, [options.blocks]);
      report.table(
        `Node.js ${version}: microseconds an event`,
        ['', 'median [95 % interval]', '99th percentile', 'named blocks'],
        [
          [
            'event',
            interval(measured.micros, 1),
            measured.p99.toFixed(1),
            `${measured.named} of ${options.blocks}`,
          ],
        ],
        measured,
      );
    }
  },
};

await answerInFreshProcess(import.meta.url, measure);

/** From the question whether an event is wanted to the return of the SDK's `emit`. */
async function measure(/** @type {string} */ blockCount) {
  const { context, trace } = await import('@opentelemetry/api');
  const { AsyncLocalStorageContextManager } = await import('@opentelemetry/context-async-hooks');
  const { BatchLogRecordProcessor, LoggerProvider } = await import('@opentelemetry/sdk-logs');
  const { EventLoopInstrumentation } = await import('opentelemetry-instrumentation-event-loop');
  const blocks = Number(blockCount);

  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const exporter = {
    export: (/** @type {unknown} */ _logs, /** @type {Function} */ done) => done({ code: 0 }),
    async forceFlush() {},
    async shutdown() {},
  };
  const sdk = new LoggerProvider({ processors: [new BatchLogRecordProcessor({ exporter })] });
  const micros = /** @type {number[]} */ ([]);
  let named = 0;
  const provider = {
    getLogger(/** @type {string} */ name, /** @type {string} */ version) {
      const logger = sdk.getLogger(name, version);
      let start = 0;
      return {
        enabled(/** @type {any} */ options) {
          start = performance.now();
          return logger.enabled(options);
        },
        emit(/** @type {any} */ record) {
          logger.emit(record);
          micros.push((performance.now() - start) * 1000);
          if (record.attributes['code.function.name'] !== undefined) named++;
        },
      };
    },
  };
  const eventLoop = new EventLoopInstrumentation({ thresholdMillis: 10 });
  eventLoop.setLoggerProvider(/** @type {any} */ (provider));
  const alive = setInterval(() => {}, 1000);
  await eventLoop.ready();
  const request = trace.setSpanContext(context.active(), {
    traceId: 'a'.repeat(32),
    spanId: 'b'.repeat(16),
    traceFlags: 0,
  });
  while (micros.length < WARM_UP_BLOCKS + blocks) {
    if (micros.length === WARM_UP_BLOCKS) named = 0;
    await new Promise((resolve) => {
      setTimeout(() => {
        context.with(request, () => {
          for (const end = performance.now() + BLOCK_MILLIS; performance.now() < end; );
        });
        resolve(undefined);
      }, 1);
    });
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  clearInterval(alive);
  eventLoop.disable();
  const measured = micros.slice(WARM_UP_BLOCKS, WARM_UP_BLOCKS + blocks);
  const sorted = [...measured].sort((a, b) => a - b);
  return {
    micros: estimate(measured),
    p99: /** @type {number} */ (sorted[Math.floor(sorted.length * 0.99)]),
    named,
  };
}
