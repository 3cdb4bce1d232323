// What an application does to what it shares with others; the argument says what. Prints `end`.
const { writeSync } = require('node:fs');
const { running } = require('../../../support/thread-times.cjs');

const ways = {
  'value on Object.prototype': () => {
    Object.prototype.value = 1;
  },
  'writable on Object.prototype': () => {
    Object.prototype.writable = false;
  },
  'ten listeners'() {
    const events = ['exit', 'beforeExit', 'SIGURG', 'SIGTERM', 'newListener', 'removeListener'];
    for (let i = 0; i < 10; i++) {
      for (const event of events) process.on(event, () => {});
      process.stderr.on('error', () => {});
    }
  },
  // Used once, a pipe takes lines in turn.
  'fifteen blocks of one iteration'() {
    process.stderr.write('');
    for (let i = 0; i < 15; i++) setTimeout(block, 5);
  },
};

function block() {
  for (const goesOn = running(150); goesOn(); ) Array.from({ length: 1e4 }, (_, i) => ({ i }));
}

if (process.argv[3] === 'at once') ways[process.argv[2]]();
else setTimeout(ways[process.argv[2]], 100);
setTimeout(block, 300);
setTimeout(block, 500);
setTimeout(() => writeSync(1, 'end\n'), 700);
