// Functions of the application that a stack sample, or a hook, could call: none of them may be
// called in the middle of what runs.
const { context, diag, DiagLogLevel, ROOT_CONTEXT } = require('@opentelemetry/api');
const { running } = require('../../support/thread-times.cjs');
const { alone, main, note, ready, startInstrumented } = require('./support/telemetry.cjs');

let isBlocking = false;
const inside = [];
const outside = [];
const called = (what) => (isBlocking ? inside : outside).push(what);

const say = (...words) => called(`diag: ${words.join(' ')}`);
const logger = { error: say, warn: say, info: say, debug: say, verbose: say };
diag.setLogger(logger, { logLevel: DiagLogLevel.INFO, suppressOverrideMessage: true });

const { exec } = RegExp.prototype;
RegExp.prototype.exec = function (...args) {
  called('RegExp');
  return exec.apply(this, args);
};
// Read of each object that is serialised.
Object.defineProperty(Object.prototype, 'toJSON', {
  get() {
    called('toJSON');
  },
});

const { eventLoop: instrumentation, sdk } = startInstrumented({
  // No report of an ongoing block is near.
  unfinishedAfterMillis: 60_000,
  inApp: (file) => {
    called('inApp');
    return file === __filename;
  },
});

/** Whoever asks it what it holds while the block runs has an error. */
class Fragile {
  getValue(key) {
    if (isBlocking) throw new Error('not now');
    return ROOT_CONTEXT.getValue(key);
  }
  setValue(key, value) {
    return ROOT_CONTEXT.setValue(key, value);
  }
  deleteValue() {
    return this;
  }
}

function hash() {
  for (const goesOn = running(150); goesOn(); );
}

function render() {
  isBlocking = true;
  context.with(new Fragile(), hash);
  hash();
  isBlocking = false;
}

main(sdk, async () => {
  await ready(instrumentation);
  await alone(render);
  const alive = setInterval(() => {}, 1000);
  await instrumentation.forceFlush();
  clearInterval(alive);
  // Until the next beat has said what failed.
  while (![...inside, ...outside].some((what) => what.includes('internal error')))
    await new Promise((resolve) => setTimeout(resolve, 10));
  note('inside', inside);
  note('outside', [...new Set(outside)]);
});
