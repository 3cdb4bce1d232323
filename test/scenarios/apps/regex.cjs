// Captures land in the middle of regular expressions, whose results and side effects must not be
// touched.
const { running } = require('../../support/thread-times.cjs');
const { alone, main, note, startInstrumented, wait } = require('./support/telemetry.cjs');

const { sdk } = startInstrumented({ thresholdMillis: 20 });

const BLOCKS = 16;
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

main(sdk, async () => {
  await wait(200);
  for (let i = 0; i < BLOCKS; i++) await alone(block);
  note('wrong', wrong);
});
