// A program that ends by itself, with listeners of `beforeExit`. It prints each of their calls.
const { pbkdf2 } = require('node:crypto');
const { trace } = require('@opentelemetry/api');

const [way] = process.argv.slice(2);
const span = (name) => trace.getTracer('before-exit').startSpan(name).end();
let calls = 0;
const count = () => console.log('beforeExit', ++calls);
/** Work of the listener's first two calls. */
const twice = (work) => () => {
  count();
  if (calls <= 2) work();
};

const WAYS = {
  'a listener': () => process.on('beforeExit', count),
  'once a listener': () => process.once('beforeExit', count),
  'a span in the listener'() {
    process.on('beforeExit', () => {
      count();
      span('last');
    });
  },
  'a span in what an async listener does last'() {
    process.on('beforeExit', async () => {
      count();
      await undefined;
      span('last');
    });
  },
  'timers, twice'() {
    process.on(
      'beforeExit',
      twice(() => setTimeout(() => span(`work ${calls}`), 20)),
    );
  },
  'immediates, twice'() {
    process.on(
      'beforeExit',
      twice(() => setImmediate(() => span(`work ${calls}`))),
    );
  },
  'work in the thread pool, twice'() {
    const work = () => pbkdf2('a', 'b', 1, 8, 'sha1', () => span(`work ${calls}`));
    process.on('beforeExit', twice(work));
  },
  'a timer after an await, twice'() {
    const work = async () => {
      await undefined;
      setTimeout(() => span(`work ${calls}`), 1);
    };
    process.on('beforeExit', twice(work));
  },
  // No resource is made: one that there is keeps the event loop alive again.
  'a timer that counts again, twice'() {
    const timer = setInterval(() => {
      timer.unref();
      if (calls > 0) span(`work ${calls}`);
    }, 300).unref();
    process.on(
      'beforeExit',
      twice(() => timer.ref()),
    );
  },
  'a signal to itself'() {
    process.on('beforeExit', () => {
      count();
      process.kill(process.pid, 'SIGTERM');
    });
  },
  'an error'() {
    process.on('beforeExit', () => {
      count();
      process.exitCode = 3;
      throw undefined;
    });
  },
  'process.exit'() {
    process.on('beforeExit', () => {
      count();
      process.exit(4);
    });
  },
  'emitted by the application'() {
    process.on('beforeExit', count);
    setTimeout(() => console.log(process.emit('beforeExit', 0)), 10);
  },
  'emitted by an async function'() {
    process.on('beforeExit', count);
    const emit = async () => {
      await undefined;
      console.log(process.emit('beforeExit', 0));
    };
    emit();
  },
};

process.on('exit', (code) => console.log('exit', code));
setTimeout(() => span('work 0'), 100);
WAYS[way]();
