// Blocks with an SDK for logs, which is what an app needs to get them as events. The argument says
// what happens.
const childProcess = require('node:child_process');
const { subscribe } = require('node:diagnostics_channel');
const { setImmediate: nextIteration, setTimeout: sleep } = require('node:timers/promises');
const { trace } = require('@opentelemetry/api');
const {
  BLOCK_CHANNEL,
  EventLoopInstrumentation,
} = require('opentelemetry-instrumentation-event-loop');
const { running } = require('../../support/thread-times.cjs');
const telemetry = require('./support/telemetry.cjs');
const { alone, block, eventLoopConfig, finish, note, record, startNodeSdk } = telemetry;

const [scenario, option] = process.argv.slice(2);

const epochMillis = ([seconds, nanos]) => seconds * 1e3 + nanos / 1e6;

const recordEvents = {
  onEmit(log) {
    record({
      type: 'event',
      eventName: log.eventName,
      body: log.body,
      severityText: log.severityText,
      startMillis: epochMillis(log.hrTime),
      traceId: log.spanContext?.traceId,
      spanId: log.spanContext?.spanId,
      attributes: log.attributes,
      scope: log.instrumentationScope.name,
    });
  },
  async forceFlush() {},
  async shutdown() {},
};

const tracer = trace.getTracer('log-events');

function warmUp(label) {
  block(label, 150);
}

async function warmUpInSteps() {
  await sleep(20);
  warmUp('expected, after an await');
  await sleep(20);
  warmUp('expected, after another');
  return 'warm';
}

const TURNS_BETWEEN_CLOCK_READS = 100_000;

// Loops of their own: a function that they call would be the one that is named.
function noisy() {
  let n = 0;
  for (const goesOn = running(40); goesOn(); )
    for (let i = 0; i < TURNS_BETWEEN_CLOCK_READS; i++) n = Math.imul(n ^ i, 0x01000193);
  return n;
}

function rare() {
  let n = 0;
  for (const goesOn = running(100); goesOn(); )
    for (let i = 0; i < TURNS_BETWEEN_CLOCK_READS; i++) n = Math.imul(n ^ i, 0x01000193);
  return n;
}

function rarer() {
  let n = 0;
  for (const goesOn = running(100); goesOn(); )
    for (let i = 0; i < TURNS_BETWEEN_CLOCK_READS; i++) n = Math.imul(n ^ i, 0x01000193);
  return n;
}

/** So many turns of this loop, whatever the machine does meanwhile: work that needs the CPU. */
function hash(turns) {
  let n = 0;
  for (let i = 0; i < turns; i++) n = Math.imul(n ^ i, 0x01000193);
  return n;
}

/** Turns that take this long if the thread has its CPU. */
function turnsOf(millis) {
  const TURNS = 2_000_000;
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 20; i++) {
    const start = performance.now();
    hash(TURNS);
    best = Math.min(best, performance.now() - start);
  }
  return Math.ceil((TURNS * millis) / best);
}

const scenarios = {
  /** Each block in a trace of its own: `note` has all their ids. */
  async sampling({ thresholdMillis }) {
    const turns = turnsOf(3 * thresholdMillis);
    const traceIds = [];
    for (let i = 0; i < 1000; i++) {
      await nextIteration();
      await new Promise((resolve) => setTimeout(resolve, 1));
      tracer.startActiveSpan('job', (span) => {
        traceIds.push(span.spanContext().traceId);
        hash(turns);
        span.end();
      });
    }
    note('trace ids', traceIds);
  },

  async one() {
    await alone(() =>
      tracer.startActiveSpan('job', (span) => {
        block('job', 300);
        span.end();
      }),
    );
  },

  async unwanted({ eventLoop }) {
    await alone(() => {
      tracer.startActiveSpan('sync', (span) => {
        note(
          'returned',
          eventLoop.expectBlock(() => {
            warmUp('expected');
            return 7;
          }),
        );
        span.end();
      });
    });
    await alone(() =>
      tracer.startActiveSpan('async', async (span) => {
        note('resolved', await eventLoop.expectBlock(warmUpInSteps));
        span.end();
      }),
    );
    try {
      eventLoop.expectBlock(() => {
        throw new Error('theirs');
      });
    } catch (error) {
      note('thrown', error.message);
    }
    await new Promise((resolve) =>
      setImmediate(() => {
        block('ignored', 150);
        resolve();
      }),
    );
    await alone(() => block('wanted', 150));
    note('blocked millis', eventLoop.health(10_000).blockedMillis);
  },

  /** The options are those of the environment, until `setConfig`. */
  async options({ eventLoop }) {
    const published = [];
    subscribe(BLOCK_CHANNEL, ({ block: { nativeCall }, context }) =>
      published.push([nativeCall?.name, trace.getSpanContext(context)?.traceId]),
    );
    await alone(() => block('without a span', 600));
    await alone(function handle() {
      tracer.startActiveSpan('job', (span) => {
        note('trace', span.spanContext().traceId);
        childProcess.execFileSync(process.execPath, ['-e', 'setTimeout(() => {}, 250)']);
        span.end();
      });
    });
    await eventLoop.forceFlush();
    eventLoop.setConfig({ ...eventLoop.getConfig(), thresholdMillis: 10_000 });
    await alone(() => block('after setConfig', 300));
    note('published', published);
  },

  async fairness({ eventLoop }) {
    await alone(rare);
    for (let i = 0; i < 40; i++) await alone(noisy);
    await alone(rarer);
    for (let i = 0; i < 5; i++) await alone(noisy);
    await eventLoop.forceFlush();
  },
};

const configs = {
  sampling: { thresholdMillis: 2, captureStack: false },
  unwanted: { blockEvents: 'all', ignoreBlockHook: (b) => b.asyncResourceType === 'Immediate' },
  fairness: { thresholdMillis: 20, maxSpansPerMinute: 20 },
};

async function main() {
  const config = eventLoopConfig(configs[scenario] ?? {});
  const eventLoop = new EventLoopInstrumentation(config);
  const sdk = startNodeSdk({
    instrumentations: [eventLoop],
    ...(option !== 'without logs' && { logRecordProcessors: [recordEvents] }),
  });
  const alive = setInterval(() => {}, 1000);
  await eventLoop.ready();
  clearInterval(alive);
  await scenarios[scenario]({ eventLoop, thresholdMillis: config.thresholdMillis });
  await finish(sdk);
}

main();
