// Three requests await one promise, as of a cache that is filled again. When it resolves, each of
// them computes, one after the other, in one turn of the event loop.
const { context, ROOT_CONTEXT, SpanKind, trace } = require('@opentelemetry/api');
const { block, main, startInstrumented, wait } = require('./support/telemetry.cjs');

const MILLIS = 200;
const NAMES = ['first', 'second', 'third'];

const { sdk } = startInstrumented({}, { stalls: true });
const tracer = trace.getTracer('app');

async function request(name, shared) {
  const span = tracer.startSpan(name, { kind: SpanKind.SERVER }, ROOT_CONTEXT);
  await context.with(trace.setSpan(ROOT_CONTEXT, span), async () => {
    await shared;
    block(name, MILLIS);
    await wait(10);
  });
  span.end();
}

main(sdk, async () => {
  const shared = wait(300);
  await Promise.all(NAMES.map((name) => request(name, shared)));
});
