// Guarantees: what the package adds to a span, a callback, a scope and a block in an overload,
// against the number of what an overload has much of; see README.md.
//
//   npm run bench -- overload --only open --node .matrix/node-24/node_modules/.bin/node
import { spawnSync } from 'node:child_process';
import { setImmediate as nextIteration, setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { estimate, interval, median } from '../tools/statistics.cjs';

const FILE = fileURLToPath(import.meta.url);

const THRESHOLD_MILLIS = 100;
/** For blocks that come close together. */
const LOW_THRESHOLD_MILLIS = 5;
const PILE_UP_MILLIS = 160;
/** Callbacks of a pile-up, each in the context of another request. */
const CONTEXTS = 20;
/** Requests under way, each with two spans. */
const OPEN = 100;
/** Spans, scopes or callbacks of one reading. */
const COUNT = 100;
const WARM_UP_ROUNDS = 2;
/** The package is done with a block after these. */
const ITERATIONS_AFTER = 6;
/** For the watchdog's thread to start or end. */
const SETTLE_MILLIS = 100;
const WARM_UP_PILE_UPS = 2;

/** What grows, the operation that is measured, and the unit. */
const SERIES = [
  {
    name: 'open',
    title: 'µs for the end of a span in a pile-up, by open requests of two spans each',
    sizes: [20, 100, 2000, 5000],
  },
  {
    name: 'own',
    title: 'the same, at the end of each callback that makes the pile-up (1 ms)',
    sizes: [320, 2000],
  },
  {
    name: 'blocks',
    title: 'µs for the end of a span, by blocks that ended while it was open',
    sizes: [0, 1, 100, 1024],
  },
  {
    name: 'scopes',
    title: 'µs for a context scope in an old busy period, by contexts that ran in it',
    sizes: [1, 64, 1000],
  },
  {
    name: 'callbacks',
    title: 'µs for a callback in an old busy period, by contexts that ran in it',
    sizes: [1, 64, 1000],
  },
  {
    name: 'block',
    title: 'µs for a block after its end, by open requests of two spans each',
    sizes: [0, 100, 2000, 5000],
  },
];

/** @type {import('./support/registry.mjs').Bench} */
export default {
  name: 'overload',
  about: 'what a span, a callback, a scope and a block cost in an overload',
  minutes: 3,
  options: {
    only: { type: 'string', multiple: true, default: SERIES.map(({ name }) => name) },
    rounds: { type: 'string', default: '6' },
  },
  async run({ nodes, options, report }) {
    for (const { path, version } of nodes) {
      for (const { name, title } of SERIES.filter((series) => options.only.includes(series.name))) {
        const points = measureInFreshProcess(path, [name, options.rounds]);
        report.table(
          `Node.js ${version}: ${title} (${name})`,
          ['', 'off', 'added'],
          points.map((/** @type {any} */ { size, off, added }) => [
            String(size),
            off.toFixed(1),
            interval(added, 1),
          ]),
          points,
        );
      }
    }
  },
};

// In the process that is measured: prints what `measure` returns, and ends.
if (process.argv[1] === FILE)
  process.stdout.write(JSON.stringify(await measure(...process.argv.slice(2))), () =>
    process.exit(),
  );

/** What is measured runs in a process of its own: this file, started anew. */
function measureInFreshProcess(/** @type {string} */ node, /** @type {string[]} */ args) {
  const { status, stdout, error } = spawnSync(node, [FILE, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0)
    throw new Error(
      `${node} failed to measure ${args[0]}: ${error?.message ?? `status ${status}`}`,
    );
  return JSON.parse(stdout);
}

/** One series: with the package and without it, in turn, in one process. */
async function measure(/** @type {string} */ name, /** @type {string} */ roundCount) {
  const { context, ROOT_CONTEXT, SpanKind, trace } = await import('@opentelemetry/api');
  const { AsyncLocalStorageContextManager } = await import('@opentelemetry/context-async-hooks');
  const { TracerProvider } = await import('@opentelemetry/sdk-trace');
  const { EventLoopInstrumentation, EventLoopSpanProcessor } = await import(
    'opentelemetry-instrumentation-event-loop'
  );
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const sink = { onStart() {}, onEnd() {}, async forceFlush() {}, async shutdown() {} };
  const tracers = {
    off: new TracerProvider({ spanProcessors: [sink] }).getTracer('bench'),
    on: new TracerProvider({ spanProcessors: [new EventLoopSpanProcessor(), sink] }).getTracer(
      'bench',
    ),
  };
  const thresholdMillis = name === 'blocks' ? LOW_THRESHOLD_MILLIS : THRESHOLD_MILLIS;
  const instrumentation = new EventLoopInstrumentation({ enabled: false, thresholdMillis });

  /** @typedef {import('@opentelemetry/api').Span} Span */

  function work(/** @type {number} */ millis) {
    const end = performance.now() + millis;
    while (performance.now() < end);
  }

  /** @returns {Span[]} of each request the entry span, and one inside it */
  function openRequests(
    /** @type {import('@opentelemetry/api').Tracer} */ tracer,
    /** @type {number} */ count,
  ) {
    return Array.from({ length: count }, () => {
      const entry = tracer.startSpan('request', { kind: SpanKind.SERVER }, ROOT_CONTEXT);
      return [entry, tracer.startSpan('handler', {}, trace.setSpan(ROOT_CONTEXT, entry))];
    }).flat();
  }

  const inContextOf = (/** @type {Span} */ span, /** @type {() => void} */ run) =>
    context.with(trace.setSpan(ROOT_CONTEXT, span), run);

  /** Calls each of them in a callback of its own, of one iteration. */
  function inOneIteration(/** @type {(() => void)[]} */ callbacks) {
    return /** @type {Promise<void>} */ (
      new Promise((resolve) => {
        for (const callback of callbacks) setImmediate(callback);
        setImmediate(resolve);
      })
    );
  }

  /** Callbacks that make a pile-up. */
  const pileUp = (
    /** @type {Span[]} */ spans,
    /** @type {number} */ contexts,
    /** @type {number} */ millis,
  ) =>
    Array.from({ length: contexts }, (_, i) => () => {
      const span = /** @type {Span} */ (spans[(2 * i + 1) % spans.length]);
      inContextOf(span, () => work(millis / contexts));
    });

  /** Microseconds. */
  function timed(/** @type {() => void} */ run) {
    const start = micros();
    run();
    return micros() - start;
  }

  /** Microseconds for the end of each of `COUNT` spans, in a pile-up. */
  async function endsInPileUp(/** @type {'on' | 'off'} */ state, open = OPEN) {
    const spans = openRequests(tracers[state], Math.max(open, COUNT / 2, CONTEXTS));
    await sleep(5);
    const [ending, others] = [spans.slice(0, COUNT), spans.slice(COUNT)];
    let sum = 0;
    const end = () => {
      sum = timed(() => {
        for (const span of ending) span.end();
      });
    };
    await inOneIteration([...pileUp(spans, CONTEXTS, PILE_UP_MILLIS), end]);
    for (const span of others) span.end();
    await sleep(5);
    return sum / ending.length;
  }

  /** Each request ends both of its spans in the callback that works for it. */
  async function endsInOwnCallbacks(/** @type {'on' | 'off'} */ state, /** @type {number} */ open) {
    const spans = openRequests(tracers[state], open);
    await sleep(5);
    let sum = 0;
    const callbacks = pileUp(spans, PILE_UP_MILLIS, PILE_UP_MILLIS).map((run, i) => () => {
      run();
      const taken = timed(() => {
        spans[2 * i + 1]?.end();
        spans[2 * i]?.end();
      });
      if (i >= THRESHOLD_MILLIS) sum += taken;
    });
    await inOneIteration(callbacks);
    for (const span of spans.slice(2 * PILE_UP_MILLIS)) span.end();
    await sleep(5);
    return sum / 2 / (PILE_UP_MILLIS - THRESHOLD_MILLIS);
  }

  async function makeBlocks(/** @type {number} */ count) {
    for (let i = 0; i < count; i++) {
      await nextIteration();
      inContextOf(tracers.off.startSpan('block'), () => work(LOW_THRESHOLD_MILLIS + 0.5));
    }
    await nextIteration();
  }

  /** Microseconds for the end of a span, after `blocks` while it was open. */
  async function endsAfterBlocks(/** @type {'on' | 'off'} */ state, /** @type {number} */ blocks) {
    const spans = openRequests(tracers[state], COUNT);
    await sleep(5);
    if (state === 'on') await makeBlocks(blocks);
    await sleep(20);
    const ending = spans.filter((_, i) => i % 2 === 1);
    const sum = timed(() => {
      for (const span of ending) span.end();
    });
    for (const span of spans) span.end();
    return sum / ending.length;
  }

  async function scopesInPileUp(/** @type {number} */ contexts) {
    const spans = openRequests(tracers.off, Math.max(COUNT, contexts));
    const all = spans.map((span) => trace.setSpan(ROOT_CONTEXT, span));
    let sum = 0;
    const run = () => {
      sum = timed(() => {
        for (let i = 0; i < 10 * COUNT; i++) context.with(all[i % contexts] ?? ROOT_CONTEXT, noop);
      });
    };
    await inOneIteration([...pileUp(spans, CONTEXTS, 30), run]);
    return sum / (10 * COUNT);
  }

  async function callbacksInPileUp(/** @type {number} */ contexts) {
    const spans = openRequests(tracers.off, Math.max(COUNT, contexts));
    let start = 0;
    let end = 0;
    const callbacks = Array.from(
      { length: 10 * COUNT },
      (_, i) => () => inContextOf(/** @type {Span} */ (spans[i % contexts]), noop),
    );
    await inOneIteration([
      ...pileUp(spans, CONTEXTS, 30),
      () => (start = micros()),
      ...callbacks,
      () => (end = micros()),
    ]);
    return (end - start) / (10 * COUNT);
  }

  /** Microseconds that a block takes after its end, its report among them. */
  async function afterBlock(/** @type {'on' | 'off'} */ state, /** @type {number} */ open) {
    const spans = openRequests(tracers[state], open);
    await sleep(50);
    let start = 0;
    await inOneIteration([
      () =>
        inContextOf(spans[1] ?? tracers.off.startSpan('alone'), () => {
          work(1.1 * THRESHOLD_MILLIS);
          start = micros();
        }),
    ]);
    for (let i = 0; i < ITERATIONS_AFTER; i++) await nextIteration();
    const taken = micros() - start;
    for (const span of spans) span.end();
    return taken;
  }

  /** @type {Record<string, (state: 'on' | 'off', size: number) => Promise<number>>} */
  const series = {
    open: endsInPileUp,
    own: endsInOwnCallbacks,
    blocks: endsAfterBlocks,
    scopes: (_, contexts) => scopesInPileUp(contexts),
    callbacks: (_, contexts) => callbacksInPileUp(contexts),
    block: afterBlock,
  };
  const run = /** @type {(typeof series)[string]} */ (series[name]);
  const sizes = SERIES.find((one) => one.name === name)?.sizes ?? [];
  for (let i = 0; i < WARM_UP_PILE_UPS; i++) await endsInPileUp('off');
  // `ready()` keeps no process alive.
  setInterval(noop, 1000);
  const points = [];
  for (const size of sizes) {
    /** @type {Record<'on' | 'off', number[]>} */
    const values = { on: [], off: [] };
    for (let round = -WARM_UP_ROUNDS; round < Number(roundCount); round++) {
      for (const state of /** @type {const} */ (round % 2 === 0 ? ['off', 'on'] : ['on', 'off'])) {
        if (state === 'on') instrumentation.enable();
        else instrumentation.disable();
        await Promise.all([state === 'on' && instrumentation.ready(), sleep(SETTLE_MILLIS)]);
        const value = await run(state, size);
        if (round >= 0) values[state].push(value);
      }
    }
    const off = median(values.off);
    points.push({ size, off, added: estimate(values.on.map((value) => value - off)) });
  }
  return points;
}

function noop() {}

function micros() {
  return performance.now() * 1000;
}
