// One block, for any flags and loaders of Node.js. Arguments: what is done to `Error` first.
const telemetry = require('./support/telemetry.cjs');
const { alone, blockInSpan, main, note, startInstrumented } = telemetry;

const { eventLoop, sdk } = startInstrumented();

const errors = {
  'prepareStackTrace replaced'() {
    Error.prepareStackTrace = (_error, frames) => frames;
  },
  'prepareStackTrace throwing'() {
    Error.prepareStackTrace = () => {
      throw new Error('no stack trace for you');
    };
  },
  'stackTraceLimit zero'() {
    Error.stackTraceLimit = 0;
  },
  'Error frozen'() {
    Object.freeze(Error);
  },
};

main(sdk, async () => {
  for (const each of process.argv.slice(2)) errors[each]();
  const before = [Error.prepareStackTrace, Error.stackTraceLimit];
  await alone(() => blockInSpan('job', 200));
  const after = [Error.prepareStackTrace, Error.stackTraceLimit];
  note(
    'Error as it was',
    before.every((value, i) => value === after[i]),
  );
  // A source map is read by a thread, which keeps no process alive.
  const alive = setInterval(() => {}, 1000);
  await eventLoop.forceFlush();
  clearInterval(alive);
});
