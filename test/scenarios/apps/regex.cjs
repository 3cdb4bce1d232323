// Captures land in the middle of regular expressions, whose results and side effects must not be
// touched.
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
const { running } = require('../../support/thread-times.cjs');
const { alone, eventLoopConfig, finish, note, startSdk, wait } = require('./support/telemetry.cjs');

const sdk = startSdk({
  instrumentations: [new EventLoopInstrumentation(eventLoopConfig({ thresholdMillis: 20 }))],
});

const BLOCKS = 25;
const BLOCK_MILLIS = 120;
/** Long enough to need a backtrack stack of its own size. */
const text = 'ab'.repeat(50_000);
const words = `${'Some Body Other '.repeat(2000)}1`;

let wrong = 0;
const check = (right) => {
  if (!right) wrong++;
};

function block() {
  for (const goesOn = running(BLOCK_MILLIS); goesOn(); ) {
    check(!/^(?:a|b)*c$/.test(text));
    check(/^((?:a|b)*)$/.test(text) && RegExp.$1.length === text.length);
    check(!/^[A-Z][a-z]+( [A-Z][a-z]+)*$/.test(words));
  }
}

async function main() {
  await wait(200);
  for (let i = 0; i < BLOCKS; i++) await alone(block);
  note('wrong', wrong);
  await finish(sdk);
}

main();
