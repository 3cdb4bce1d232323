// Requests wait while others block, and end right after that, before it is known which function
// blocked: `ignoreBlockHook` ignores one of them, and the other blocks with deep stacks. How many
// spans of blocks start and end.
const { context, ROOT_CONTEXT, SpanKind, trace } = require('@opentelemetry/api');
const { block, main, note, startInstrumented, wait } = require('./support/telemetry.cjs');

const ROUNDS = 3;
const JOB_MILLIS = 200;
const DEPTH = 60;

const counts = { started: 0, ended: 0 };
const isBlock = (span) => span.name === 'event-loop-blocked';
const counter = {
  onStart: (span) => void (isBlock(span) && counts.started++),
  onEnd: (span) => void (isBlock(span) && counts.ended++),
  async forceFlush() {},
  async shutdown() {},
};
const ignoreBlockHook = ({ code }) => /planned/.test(code?.stackTrace);
const { sdk } = startInstrumented({ ignoreBlockHook }, { stalls: true, processors: [counter] });
const tracer = trace.getTracer('app');

const work = (name) => block(name, JOB_MILLIS);
const planned = (name) => work(name);
const deep = (depth, name) => (depth === 0 ? work(name) : [depth].map(() => deep(depth - 1, name)));
const other = (name) => deep(DEPTH, name);

async function round(name, job) {
  const waiting = tracer.startSpan(`waits for ${name}`, { kind: SpanKind.SERVER }, ROOT_CONTEXT);
  await wait(50);
  await new Promise((resolve) => {
    setImmediate(() => {
      const span = tracer.startSpan(name, { kind: SpanKind.SERVER }, ROOT_CONTEXT);
      context.with(trace.setSpan(ROOT_CONTEXT, span), () => job(name));
      span.end();
      setImmediate(() => {
        waiting.end();
        resolve();
      });
    });
  });
  await wait(100);
}

main(sdk, async () => {
  await wait(300);
  for (let i = 1; i <= ROUNDS; i++) {
    await round(`planned ${i}`, planned);
    await round(`other ${i}`, other);
  }
  note('counts', counts);
});
