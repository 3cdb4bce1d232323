// A queue of plain functions, which a timer drains. The first request starts it, and ends. Two
// others then wait: one for its job, which blocks, and one for a timer. With the argument
// `message`, each job has a span of its own, as that of a message.
const { context, ROOT_CONTEXT, SpanKind, trace } = require('@opentelemetry/api');
const { block, inRequest, main, startInstrumented, wait } = require('./support/telemetry.cjs');

const MILLIS = 200;

const { sdk } = startInstrumented({}, { stalls: true });
const tracer = trace.getTracer('app');

const jobs = [];
let drained = () => {};
let timer;
function drain() {
  const job = jobs.shift();
  if (job !== undefined) handle(job);
  timer = setTimeout(drain, 20);
  drained();
}

function handle(job) {
  if (!process.argv.includes('message')) return job();
  const span = tracer.startSpan('message', { kind: SpanKind.CONSUMER, root: true });
  context.with(trace.setSpan(ROOT_CONTEXT, span), job);
  span.end();
}

const run = (job) => new Promise((resolve) => jobs.push(() => resolve(job())));

main(sdk, async () => {
  await inRequest('starts the queue', async () => drain());
  await wait(100);
  // The next time, the loop has waited in between: the requests do not begin in the callback that
  // blocks.
  await new Promise((resolve) => {
    drained = resolve;
  });
  await Promise.all([
    inRequest('asks', async () => {
      await run(() => block('job', MILLIS));
      // The request goes on: what it does next is a span inside it.
      tracer.startSpan('stores the result').end();
      await wait(10);
    }),
    inRequest('waits', () => wait(100)),
  ]);
  clearTimeout(timer);
});
