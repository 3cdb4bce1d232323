// Logs more to stderr than a pipe takes, and blocks each time. The argument says how it ends.
const { writeSync } = require('node:fs');
const { running } = require('../../../support/thread-times.cjs');

const ROUNDS = 3;

function hashRows(millis) {
  let sum = 0;
  for (const goesOn = running(millis); goesOn(); ) for (let i = 0; i < 1e5; i++) sum += i % 7;
  return sum;
}

let rounds = 0;
setTimeout(function round() {
  for (let i = 0; i < 3000; i++) console.error(`request ${i} ${'-'.repeat(100)}`);
  writeSync(1, 'blocks\n');
  hashRows(150);
  rounds++;
  if (rounds < ROUNDS) setTimeout(round, 50);
  else
    setTimeout(
      () =>
        process.stdout.write(
          'done\n',
          process.argv[2] === 'process.exit' ? process.exit : undefined,
        ),
      100,
    );
}, 200);
