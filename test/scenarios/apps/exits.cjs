// Section D: ways for a process to end. The argument says which.
const { spawn } = require('node:child_process');
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
const { block, eventLoopConfig, finish, note, startSdk, wait } = require('./support/telemetry.cjs');

const sdk = startSdk({ instrumentations: [new EventLoopInstrumentation(eventLoopConfig())] });

const ended = () => note('finished', performance.timeOrigin + performance.now());

const exits = {
  'natural exit'() {
    setTimeout(ended, 100);
  },

  'natural exit right after a block'() {
    setTimeout(() => {
      block('block', 150);
      ended();
    }, 100);
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
    setTimeout(() => {
      block('block', 150);
      ended();
      process.exit(3);
    }, 100);
  },

  async 'process.exit right after the SDK'() {
    await wait(100);
    await finish(sdk);
    process.exit(3);
  },

  'SIGTERM that nobody handles'() {
    setInterval(() => {}, 1000);
    setTimeout(() => process.stdout.write('ready\n'), 100);
  },

  'SIGTERM that is handled'() {
    const timer = setInterval(() => {}, 1000);
    process.once('SIGTERM', async () => {
      clearInterval(timer);
      await finish(sdk);
    });
    setTimeout(() => {
      block('block', 150);
      process.stdout.write('ready\n');
    }, 100);
  },

  'SIGTERM in an endless loop'() {
    setTimeout(() => {
      process.stdout.write('ready\n');
      for (;;);
    }, 100);
  },
};

/** From outside, as an orchestrator does. (`process.kill` of oneself runs Node's exit handlers first, and those of C++ only.) */
function terminate() {
  spawn('kill', ['-TERM', String(process.pid)]);
  for (;;);
}

/** Ends somewhere in a block: before, while or after its stack is captured. */
const inBlock = (end) => () =>
  setTimeout(() => {
    const untilMillis = performance.now() + Number(process.argv[3] ?? 60 + Math.random() * 100);
    while (performance.now() < untilMillis);
    ended();
    end();
  }, 100);

Object.assign(exits, {
  'process.exit in a block': inBlock(() => process.exit(3)),
  'natural exit from a block': inBlock(() => {}),
  'SIGTERM in a block': inBlock(terminate),
  'uncaught exception in a block': inBlock(() => {
    throw new Error('on purpose');
  }),
  'process.exit out of a block': () =>
    setTimeout(() => {
      ended();
      process.exit(3);
    }, 100),
  'uncaught exception out of a block': () =>
    setTimeout(() => {
      ended();
      throw new Error('on purpose');
    }, 100),
  'SIGTERM out of a block': () =>
    setTimeout(() => {
      ended();
      terminate();
    }, 100),
});

exits[process.argv[2]]();
