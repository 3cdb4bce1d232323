// Nothing here blocks the event loop, although it may seem so. The argument says what goes on.
const { spawnSync } = require('node:child_process');
const { once } = require('node:events');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { Worker } = require('node:worker_threads');
const telemetry = require('./support/telemetry.cjs');
const { finish, serve, startInstrumented, startTruth, truthOf, wait, work } = telemetry;

// A beat is JavaScript, too: if a process is stopped, seldom enough that the stop does not land
// in one.
const lagIntervalMillis = process.argv[2] === 'service' ? 200 : 20;
const { sdk } = startInstrumented({ lagIntervalMillis });
const http = require('node:http');

const WAIT_MILLIS = 500;

/** Runs this source in a worker thread, to its end. */
const inThread = (source) => once(new Worker(source, { eval: true }), 'exit');

const scenarios = {
  async idle() {
    await wait(WAIT_MILLIS);
  },

  async 'busy but yielding'() {
    const untilMillis = performance.now() + WAIT_MILLIS;
    while (performance.now() < untilMillis) {
      work(2);
      await new Promise((resolve) => setImmediate(resolve));
    }
  },

  /** A server in another process that answers late. */
  async 'waiting for an HTTP answer'() {
    const end = startTruth('waited', { waits: true });
    await new Promise((resolve, reject) => {
      http
        .get({ port: process.env.SLOW_PORT, host: '127.0.0.1' }, (response) =>
          response.resume().on('end', resolve),
        )
        .on('error', reject);
    });
    end();
  },

  async 'waiting for a file'() {
    const fifo = path.join(os.tmpdir(), `event-loop-fifo-${process.pid}`);
    spawnSync('mkfifo', [fifo]); // still before the first turn of the loop
    const end = startTruth('waited', { waits: true });
    const read = fs.promises.readFile(fifo);
    await inThread(
      `setTimeout(() => require('node:fs').writeFileSync(${JSON.stringify(fifo)}, 'late'), ${WAIT_MILLIS})`,
    );
    await read;
    end();
    fs.rmSync(fifo);
  },

  async 'another thread waiting'() {
    const end = startTruth('waited', { waits: true });
    await inThread(`Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${WAIT_MILLIS})`);
    end();
  },

  async 'another thread busy'() {
    const end = startTruth('waited', { waits: true });
    await inThread(
      `const end = performance.now() + ${WAIT_MILLIS / 2}; while (performance.now() < end);`,
    );
    end();
  },

  async 'startup of a module'() {
    await wait(100);
  },

  async 'startup in ticks and microtasks'() {
    await wait(100);
  },
};

const name = process.argv[2];

if (name === 'service') {
  serve(
    http.createServer((_request, response) => response.end('ok')),
    sdk,
  );
} else {
  if (name === 'startup of a module') truthOf('module', () => work(250));
  if (name === 'startup in ticks and microtasks') {
    truthOf('module', () => work(250));
    process.nextTick(() => truthOf('tick', () => work(250)));
    Promise.resolve().then(() => truthOf('microtask', () => work(250)));
  }
  scenarios[name]().then(() => finish(sdk));
}
