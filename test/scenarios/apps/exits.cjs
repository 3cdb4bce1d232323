// Ways for a process to end. The argument says which.
const { spawn } = require('node:child_process');
const telemetry = require('./support/telemetry.cjs');
const { alone, block, finish, note, readRunDelay, startInstrumented, unixTime, wait } = telemetry;

const { eventLoop: instrumentation, sdk } = startInstrumented();

const ended = () => note('finished', unixTime());

/** Calls `job` in a timer, once the loop has begun to turn and has gone idle. */
const soon = (job) =>
  setTimeout(() => {
    readRunDelay();
    setTimeout(job, 1);
  }, 99);

const exits = {
  'natural exit'() {
    soon(ended);
  },

  'natural exit right after a block'() {
    setTimeout(() => {
      block('block', 150);
      ended();
    });
  },

  'natural exit after a handler of beforeExit that blocks'() {
    let times = 0;
    process.on('beforeExit', () => {
      if (++times > 1) return note('beforeExit', times);
      block('beforeExit', 150);
      note('beforeExit', times);
      ended();
    });
  },

  'process.exit right after a block'() {
    soon(() => {
      block('block', 150);
      ended();
      process.exit(3);
    });
  },

  async 'process.exit right after the SDK'() {
    await wait(100);
    await finish(sdk);
    process.exit(3);
  },

  'SIGTERM without a handler'() {
    setInterval(() => {}, 1000);
    soon(() => process.stdout.write('ready\n'));
  },

  'SIGTERM that is handled'() {
    const timer = setInterval(() => {}, 1000);
    process.once('SIGTERM', async () => {
      clearInterval(timer);
      await finish(sdk);
    });
    soon(() => {
      block('block', 150);
      process.stdout.write('ready\n');
    });
  },

  // SIGUSR2 has a listener; SIGCONT has none, and does nothing to a process that runs.
  async 'signals to itself'() {
    process.on('SIGUSR2', () => {});
    const timer = setInterval(() => {}, 1000);
    for (let i = 0; i < 10; i++) {
      process.kill(process.pid, 'SIGUSR2');
      process.kill(process.pid, 0);
    }
    process.kill(process.pid, 'SIGCONT');
    await instrumentation.ready();
    await alone(() => {
      for (const until = performance.now() + 90; performance.now() < until; );
      for (let i = 0; i < 10; i++) process.kill(process.pid, 'SIGUSR2');
    });
    await alone(() => block('block', 300));
    clearInterval(timer);
    await finish(sdk);
  },

  'SIGTERM in an endless loop'() {
    soon(() => {
      process.stdout.write('ready\n');
      for (;;);
    });
  },
};

/** From outside, as an orchestrator does. */
function terminate() {
  spawn('kill', ['-TERM', String(process.pid)]);
  for (;;);
}

/** Ends somewhere in a block: before, while or after its stack is captured. */
const inBlock = (end) => () =>
  soon(() => {
    const untilMillis = performance.now() + Number(process.argv[3] ?? 60 + Math.random() * 100);
    while (performance.now() < untilMillis);
    ended();
    end();
  }, 100);

const next = async (n) => n + 1;

/** The same in a chain of short awaits: its stack is captured again until one shows code. */
const inChain = (end) => () =>
  soon(async () => {
    const untilMillis = performance.now() + Number(process.argv[3]);
    for (let n = 0; performance.now() < untilMillis; ) n = await next(n);
    ended();
    end();
  });

Object.assign(exits, {
  'natural exit from a chain of awaits': inChain(() => {}),
  'SIGTERM to itself in a chain of awaits': inChain(() => process.kill(process.pid, 'SIGTERM')),
  'process.exit in a block': inBlock(() => process.exit(3)),
  'process.reallyExit in a block': inBlock(() => process.reallyExit(3)),
  'natural exit from a block': inBlock(() => {}),
  'SIGTERM in a block': inBlock(terminate),
  // Node.js runs its exit handlers first, those of C++ only.
  'SIGTERM to itself in a block': inBlock(() => process.kill(process.pid, 'SIGTERM')),
  'SIGTERM to itself right after disable()': inBlock(() => {
    instrumentation.disable();
    process.kill(process.pid, 'SIGTERM');
  }),
  'uncaught exception in a block': inBlock(() => {
    throw new Error('on purpose');
  }),
  'process.exit out of a block': () =>
    setTimeout(() => {
      ended();
      process.exit(3);
    }),
  'uncaught exception out of a block': () =>
    soon(() => {
      ended();
      throw new Error('on purpose');
    }),
  'SIGTERM out of a block': () =>
    soon(() => {
      ended();
      terminate();
    }),
});

exits[process.argv[2]]();
