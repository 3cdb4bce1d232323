// With `asyncHooks: 'off'`: one block in a context scope, one outside of all.
const { trace } = require('@opentelemetry/api');
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
const { alone, block, eventLoopConfig, finish, startSdk } = require('./support/telemetry.cjs');

const sdk = startSdk({ instrumentations: [new EventLoopInstrumentation(eventLoopConfig())] });

async function main() {
  await alone(() =>
    trace.getTracer('block-without-hooks').startActiveSpan('scope', (span) => {
      block('in a scope', 250);
      span.end();
    }),
  );
  await alone(() => block('outside of scopes', 250));
  await finish(sdk);
}

main();
