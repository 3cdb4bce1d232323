// Promises: how cost and memory grow with what a service has much of: requests under way, depth of
// async chains, open spans, blocks; see README.md.
import { setImmediate as nextIteration, setTimeout as sleep } from 'node:timers/promises';
import { BLOCK_SPAN } from '../tools/otlp.cjs';
import { estimate, interval, median } from '../tools/statistics.cjs';
import { answerInFreshProcess, measureInFreshProcess } from './support/fresh-process.mjs';

const WARM_UP_ROUNDS = 3;
/** For the watchdog's thread to start or end. */
const SETTLE_MILLIS = 60;
/** From so many on their heap exceeds the noise. */
const MANY = 1_000;
const HEAP_READINGS = 5;

const SIZES = {
  requests: [1, 10, 100, 1_000, 10_000],
  chain: [1, 10, 100, 1_000, 10_000],
  spans: [1, 10, 100, 1_000, 10_000],
  blocks: [1, 10, 100, 400],
};

/** What grows, how it is shown, and with which digits. */
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
    title:
      'blocks of 1.5 ms in a second, at thresholdMillis 1: ms of CPU in a second, reported of made',
  },
];

/** @type {import('./support/registry.mjs').Bench} */
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
        const points = measureInFreshProcess(
          import.meta.url,
          path,
          [name, options.rounds],
          ['--expose-gc'],
        );
        report.table(
          `Node.js ${version}: ${title}`,
          [
            '',
            'off',
            'added',
            ...points[0].extra.map((/** @type {any} */ { name: column }) => column),
          ],
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

await answerInFreshProcess(import.meta.url, measure);

function cpuMicros() {
  const { user, system } = process.cpuUsage();
  return user + system;
}

function heapUsed() {
  globalThis.gc();
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}

/** @returns {{ name: string, text: string }[]} */
function heapColumns(/** @type {string} */ off, /** @type {string} */ on) {
  return [
    { name: 'heap, off', text: off },
    { name: 'on', text: on },
  ];
}

/** One series. */
async function measure(/** @type {string} */ series, /** @type {string} */ roundCount) {
  const { context, trace } = await import('@opentelemetry/api');
  const { AsyncLocalStorageContextManager } = await import('@opentelemetry/context-async-hooks');
  const { TracerProvider } = await import('@opentelemetry/sdk-trace');
  const { EventLoopInstrumentation, EventLoopSpanProcessor } = await import(
    'opentelemetry-instrumentation-event-loop'
  );
  const rounds = Number(roundCount);
  let reported = 0;
  const sink = {
    onStart() {},
    onEnd(/** @type {any} */ span) {
      if (span.name === BLOCK_SPAN) reported++;
    },
    async forceFlush() {},
    async shutdown() {},
  };
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [sink] }));
  const tracer = trace.getTracer('scale');
  const instrumentation = new EventLoopInstrumentation({
    enabled: false,
    thresholdMillis: series === 'blocks' ? 1 : 100,
    maxSpansPerMinute: 60_000,
  });

  /** Off and on in turn; what `run` returns of each, and their differences. */
  async function compare(/** @type {() => Promise<number>} */ run) {
    const values = { off: /** @type {number[]} */ ([]), on: /** @type {number[]} */ ([]) };
    for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
      for (const state of round % 2 === 0
        ? /** @type {const} */ (['off', 'on'])
        : /** @type {const} */ (['on', 'off'])) {
        if (state === 'on') instrumentation.enable();
        else instrumentation.disable();
        await sleep(SETTLE_MILLIS);
        const value = await run();
        if (round >= 0) values[state].push(value);
      }
    }
    instrumentation.disable();
    return {
      off: median(values.off),
      added: estimate(values.on.map((value, i) => value - values.off[i])),
    };
  }

  /** One request: a span, a few turns of the loop, an await in each. */
  function request() {
    return tracer.startActiveSpan('request', async (span) => {
      for (let i = 0; i < 3; i++) await nextIteration();
      span.end();
    });
  }

  async function requests(/** @type {number} */ atOnce) {
    const total = Math.max(5_000, atOnce);
    const run = async () => {
      const start = cpuMicros();
      for (let made = 0; made < total; made += atOnce) {
        await Promise.all(Array.from({ length: atOnce }, request));
      }
      return (cpuMicros() - start) / total;
    };
    const cost = await compare(run);
    const heap = async () => {
      const all = Promise.all(Array.from({ length: atOnce }, request));
      const bytes = heapUsed();
      await all;
      return (bytes - heapUsed()) / 1024;
    };
    if (atOnce < MANY) return { ...cost, digits: 1, extra: heapColumns('–', '–') };
    const off = await heap();
    instrumentation.enable();
    await sleep(SETTLE_MILLIS);
    const on = await heap();
    instrumentation.disable();
    return { ...cost, digits: 1, extra: heapColumns(off.toFixed(0), on.toFixed(0)) };
  }

  async function chain(/** @type {number} */ depth) {
    /** @type {(level: number) => Promise<number>} */
    const descend = async (level) => {
      if (level === 0) {
        await nextIteration();
        return 0;
      }
      return (await descend(level - 1)) + 1;
    };
    const times = Math.max(1, Math.round(20_000 / depth));
    const cost = await compare(async () => {
      const start = cpuMicros();
      for (let i = 0; i < times; i++) await descend(depth);
      return ((cpuMicros() - start) * 1000) / (times * depth);
    });
    return { ...cost, digits: 0, extra: [] };
  }

  /** With the processor or without, the instrumentation is on. */
  async function spans(/** @type {number} */ open) {
    instrumentation.enable();
    await sleep(SETTLE_MILLIS);
    // A new one each time: ended spans are kept for a while, and must not be freed where it is
    // weighed.
    const tracerWithout = () => new TracerProvider({ spanProcessors: [sink] }).getTracer('scale');
    const tracerWith = () =>
      new TracerProvider({ spanProcessors: [new EventLoopSpanProcessor(), sink] }).getTracer(
        'scale',
      );
    const [without, withIt] = [tracerWithout(), tracerWith()];
    const COUNT = 20_000;
    const BATCH = 1_000;
    const run = async (/** @type {import('@opentelemetry/api').Tracer} */ made) => {
      const all = Array.from({ length: open }, () => made.startSpan('open'));
      await nextIteration();
      let nanos = 0;
      for (let i = 0; i < COUNT; ) {
        const start = process.hrtime.bigint();
        for (const until = i + BATCH; i < until; i++) {
          all[i % open].end();
          all[i % open] = made.startSpan('open');
        }
        nanos += Number(process.hrtime.bigint() - start);
        await nextIteration();
      }
      for (const span of all) span.end();
      return nanos / COUNT;
    };
    const off = [];
    const added = [];
    for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
      const order = round % 2 === 0 ? [without, withIt] : [withIt, without];
      const values = new Map();
      for (const made of order) values.set(made, await run(made));
      if (round < 0) continue;
      off.push(values.get(without));
      added.push(values.get(withIt) - values.get(without));
    }
    const heap = async (/** @type {import('@opentelemetry/api').Tracer} */ made) => {
      const before = heapUsed();
      const all = Array.from({ length: open }, () => made.startSpan('open'));
      const bytes = heapUsed() - before;
      for (const span of all) span.end();
      return bytes / open;
    };
    const heaps = { without: /** @type {number[]} */ ([]), withIt: /** @type {number[]} */ ([]) };
    for (let i = 0; i < HEAP_READINGS; i++) {
      heaps.without.push(await heap(tracerWithout()));
      heaps.withIt.push(await heap(tracerWith()));
    }
    instrumentation.disable();
    return {
      off: median(off),
      added: estimate(added),
      digits: 0,
      extra: [
        { name: 'heap, off', text: open < MANY ? '–' : median(heaps.without).toFixed(0) },
        { name: 'on', text: open < MANY ? '–' : median(heaps.withIt).toFixed(0) },
      ],
    };
  }

  async function blocks(/** @type {number} */ perSecond) {
    const BLOCK_MILLIS = 1.5;
    const SECONDS = 1;
    const count = Math.max(1, Math.round(perSecond * SECONDS));
    let made = 0;
    const block = () => {
      const end = performance.now() + BLOCK_MILLIS;
      while (performance.now() < end);
      made++;
    };
    reported = 0;
    let [madeOn, reportedOn] = [0, 0];
    const run = async () => {
      made = 0;
      const start = cpuMicros();
      const begin = performance.now();
      for (let i = 0; i < count; i++) {
        await sleep(Math.max(0, begin + (i / perSecond) * 1000 - performance.now()));
        block();
      }
      // A whole window, and the last one reported: what runs all the time is weighed as long at
      // every rate.
      await sleep(Math.max(10, begin + SECONDS * 1000 - performance.now()));
      return (cpuMicros() - start) / (performance.now() - begin);
    };
    const cost = await compare(async () => {
      const before = reported;
      const value = await run();
      if (reported > before) {
        madeOn += made;
        reportedOn += reported - before;
      }
      return value;
    });
    const share = madeOn === 0 ? '–' : `${((reportedOn / madeOn) * 100).toFixed(0)} %`;
    return { ...cost, digits: 0, extra: [{ name: 'reported', text: share }] };
  }

  const measures = { requests, chain, spans, blocks };
  const points = [];
  for (const size of SIZES[series]) points.push({ size, ...(await measures[series](size)) });
  return points;
}
