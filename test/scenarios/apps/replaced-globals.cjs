// `process` is an accessor, as sandboxes and mocks make it, and what leads to a diagnostics channel
// is replaced. Nothing of it may be called in the middle of other code.
const diagnosticsChannel = require('node:diagnostics_channel');
const telemetry = require('./support/telemetry.cjs');
const { alone, inSpan, main, note, startInstrumented, startTruth, work } = telemetry;

const { sdk } = startInstrumented();

let isInside = false;
const called = [];
const noteCall = (name) => isInside && called.push(name);

const { process: real } = globalThis;
Object.defineProperty(globalThis, 'process', {
  configurable: true,
  get() {
    noteCall('process');
    return real;
  },
});
for (const [owner, key] of [
  [real, 'getBuiltinModule'],
  [diagnosticsChannel, 'channel'],
]) {
  const original = owner[key];
  owner[key] = (...args) => {
    noteCall(key);
    return original.apply(owner, args);
  };
}

main(sdk, async () => {
  await alone(() => {
    inSpan('job', () => {
      const end = startTruth('job');
      isInside = true;
      work(200);
      isInside = false;
      end();
    });
  });
  note('called', called);
  note(
    'globals',
    Object.getOwnPropertyNames(globalThis).filter((name) => /eventLoop/i.test(name)),
  );
});
