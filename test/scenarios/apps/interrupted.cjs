// A process that idles while signals interrupt its waits for events, and its children end. The
// arguments: how the instrumentation is set up, and the number of interruptions.
const { spawn } = require('node:child_process');
const { once } = require('node:events');
const { finish, note, startInstrumented } = require('./support/telemetry.cjs');

const [setUp, interruptions] = process.argv.slice(2).map((argument) => JSON.parse(argument));

/** By then it idles: beats are 200 ms apart. */
const FIRST_MILLIS = 600;
/** How far apart interruptions are, on average. */
const MEAN_MILLIS = 150;

const { eventLoop, sdk } = startInstrumented(setUp);

// With a handler; without one; and SIGSTOP, with SIGCONT after it. SIGUSR1 starts the debugger.
const HANDLED = ['SIGUSR2', 'SIGWINCH', 'SIGHUP', 'SIGINT'];
const UNHANDLED = ['SIGURG', 'SIGCHLD', 'SIGCONT', 'SIGSTOP'];
const WAYS = [...HANDLED, ...UNHANDLED, 'SIGUSR1'];
for (const name of HANDLED) process.on(name, () => {});

/** A child that sends one signal and ends at another time: two interruptions. */
function interrupter(i) {
  const at = () => (FIRST_MILLIS + Math.random() * interruptions * MEAN_MILLIS) / 1e3;
  const [first, second] = [at(), at()].sort((a, b) => a - b);
  const way = WAYS[i % WAYS.length].slice('SIG'.length);
  const goOn = way === 'STOP' ? `sleep 0.05; kill -CONT ${process.pid}; ` : '';
  const script = `sleep ${first}; kill -${way} ${process.pid}; ${goOn}sleep ${second - first}`;
  return once(spawn('sh', ['-c', script], { stdio: 'ignore' }), 'exit');
}

// All are started before the loop turns: to start a process is work.
const ended = Promise.all(Array.from({ length: interruptions / 2 }, (_, i) => interrupter(i)));
const farAway = setTimeout(() => {}, 3_600_000);

process.once('SIGTERM', () => {
  clearTimeout(farAway);
  void finish(sdk);
});

ended.then(() => {
  note('health', eventLoop.health(interruptions * MEAN_MILLIS));
  process.stdout.write('interrupted\n');
});
