// Section D: ways for a process to end. The argument says which.
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

exits[process.argv[2]]();
