// Fills the heap while V8's own threads, which collect garbage, have hardly any CPU: the main
// thread, on another one, waits for them.
const { execFileSync } = require('node:child_process');
const { readdirSync } = require('node:fs');
const { once } = require('node:events');

/** Those that Node.js starts with. */
const v8Threads = readdirSync('/proc/self/task').filter((id) => Number(id) !== process.pid);

const { alone, main, ready, startInstrumented, truthOf } = require('./support/telemetry.cjs');

const [ownCpu, theirCpu] = process.argv.slice(2);
const { eventLoop, sdk } = startInstrumented({ thresholdMillis: 50, lagIntervalMillis: 10 });

const run = (command, ...args) => execFileSync(command, args, { stdio: 'ignore' });

let kept = [];
function fill() {
  for (let i = 0; i < 40_000; i++) kept.push({ i, text: `text ${i}`, list: [i] });
}

main(sdk, async () => {
  await ready(eventLoop);
  for (const id of v8Threads) {
    run('taskset', '-pc', theirCpu, id);
    run('renice', '-n', '19', '-p', id);
  }
  run('taskset', '-pc', ownCpu, String(process.pid));
  process.stdout.write('ready\n');
  await once(process.stdin, 'data');
  for (let i = 0; i < 24; i++) {
    await alone(() => truthOf(`filled ${i}`, fill));
    if (i % 6 === 5) kept = [];
  }
  process.stdout.write('done\n');
  process.stdin.pause();
});
