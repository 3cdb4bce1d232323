// A request waits while a job blocks with deep stacks, and ends right after it.
const { context, ROOT_CONTEXT, SpanKind, trace } = require('@opentelemetry/api');
const { block, main, startInstrumented, wait } = require('./support/telemetry.cjs');

const ROUNDS = 2;
const JOB_MILLIS = 400;
const DEPTH = 60;

const { sdk } = startInstrumented({ thresholdMillis: 50 }, { stalls: true });
const tracer = trace.getTracer('app');

const deep = (depth, work) => (depth === 0 ? work() : [depth - 1].map((d) => deep(d, work)));

async function round(number) {
  const waiting = tracer.startSpan('waiting', { kind: SpanKind.SERVER }, ROOT_CONTEXT);
  await wait(50);
  await new Promise((resolve) => {
    setImmediate(() => {
      const job = tracer.startSpan('job', { kind: SpanKind.SERVER }, ROOT_CONTEXT);
      context.with(trace.setSpan(ROOT_CONTEXT, job), () =>
        deep(DEPTH, () => block(`job ${number}`, JOB_MILLIS)),
      );
      job.end();
      setImmediate(() => {
        context.with(trace.setSpan(ROOT_CONTEXT, waiting), () => waiting.end());
        resolve();
      });
    });
  });
  await wait(100);
}

main(sdk, async () => {
  await wait(300);
  for (let i = 1; i <= ROUNDS; i++) await round(i);
});
