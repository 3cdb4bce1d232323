// Blocks in code whose names and files have megabytes, as generators and `data:` modules make them.
const { AsyncResource } = require('node:async_hooks');
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
const { running } = require('../../support/thread-times.cjs');
const telemetry = require('./support/telemetry.cjs');
const { alone, eventLoopConfig, inSpan, main, startNodeSdk, truthOf } = telemetry;

const LONG = 'n'.repeat(2e6);
/** So deep that a stack has 100 MB of such text. */
const DEPTH = 60;

const sdk = startNodeSdk({
  serviceName: 'blocked',
  instrumentations: [new EventLoopInstrumentation(eventLoopConfig({ unfinishedAfterMillis: 200 }))],
});

function recur(depth, goesOn) {
  if (depth > 0) return recur(depth - 1, goesOn) + 1;
  let sum = 0;
  do for (let i = 0; i < 1e6; i++) sum += i % 7;
  while (goesOn());
  return sum;
}

const withSourceUrl = () =>
  new Function(`return ${recur}\n//# sourceURL=/app/${LONG}/views/list.js`)();
const ofDataUrl = async () =>
  (await import(`data:text/javascript,/*${LONG}*/export ${encodeURIComponent(recur)}`)).recur;

class Job extends AsyncResource {}
Object.defineProperty(Job, 'name', { value: `Job ${LONG}` });

main(sdk, async () => {
  const recursions = [recur, withSourceUrl(), await ofDataUrl()];
  Object.defineProperty(recur, 'name', { value: `named ${LONG}` });
  for (const compute of recursions) {
    await alone(() =>
      inSpan(`span ${LONG}`, () => {
        const work = () => compute(DEPTH, running(400));
        new Job('JOB').runInAsyncScope(() => truthOf('job', work));
      }),
    );
  }
});
