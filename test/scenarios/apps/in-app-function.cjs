// `inApp` is a function of the application: it must not be called in the middle of what runs.
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
const { running } = require('../../support/thread-times.cjs');
const { alone, eventLoopConfig, finish, note, startSdk } = require('./support/telemetry.cjs');

let isBlocking = false;
let callsInside = 0;
let callsOutside = 0;

const instrumentation = new EventLoopInstrumentation(
  eventLoopConfig({
    inApp: (file) => {
      if (isBlocking) callsInside++;
      else callsOutside++;
      return file === __filename;
    },
  }),
);
const sdk = startSdk({ instrumentations: [instrumentation] });

function render() {
  isBlocking = true;
  for (const goesOn = running(200); goesOn(); );
  isBlocking = false;
}

async function main() {
  const alive = setInterval(() => {}, 1000);
  await instrumentation.ready();
  clearInterval(alive);
  await alone(render);
  note('calls', { inside: callsInside, isAsked: callsOutside > 0 });
  await finish(sdk);
}

main();
