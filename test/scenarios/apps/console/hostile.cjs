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
    for (const event of ['exit', 'beforeExit', 'SIGURG'])
      for (let i = 0; i < 10; i++) process.on(event, () => {});
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
