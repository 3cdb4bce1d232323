// The same synchronous work in every place that can block it, each alone in its turn of the event
// loop.
const { AsyncResource } = require('node:async_hooks');
const dns = require('node:dns');
const { EventEmitter, once } = require('node:events');
const fs = require('node:fs');
const path = require('node:path');
const { Worker } = require('node:worker_threads');
const { context, ROOT_CONTEXT, trace } = require('@opentelemetry/api');
const telemetry = require('./support/telemetry.cjs');
const { alone, block, blockInSpan, main, startInstrumented, startTruth, work } = telemetry;

const { sdk } = startInstrumented();
const http = require('node:http');
const swc = require('@swc/core');
const { WebSocket } = require('ws');

const BLOCK_MILLIS = 150; // of a threshold of 100
const SHORT_MILLIS = 65;

/** Takes another thread some milliseconds: the loop waits for it. */
const code = 'function sum(a, b) { return a + b; }\n'.repeat(500);

const tracer = trace.getTracer('block-places');

/**
 * Runs `start` in a span of this name, and waits until it has called `block`, which is the block.
 */
const inSpan = (label, start) =>
  alone(
    () =>
      new Promise((resolve) => {
        tracer.startActiveSpan(label, (span) => {
          start(() => {
            block(label, BLOCK_MILLIS);
            span.end();
            resolve();
          });
        });
      }),
  );

/** Blocks the event loop in a span of this name, as a consumer of messages does. */
const holdInSpan = (label, millis = BLOCK_MILLIS) => blockInSpan(label, millis);

/** Calls `callback` in a timer that knows of no span. */
const outsideOfSpans = (callback) => context.with(ROOT_CONTEXT, () => setTimeout(callback, 1));

main(sdk, async () => {
  const upstream = new Worker(path.join(__dirname, 'support', 'upstream.cjs'));
  const [port] = await once(upstream, 'message');
  const socket = new WebSocket(`ws://127.0.0.1:${port}`);
  await once(socket, 'open');
  // cold code is slow code: each kind of input and output once, before it counts
  await new Promise((resolve) =>
    http.get({ port, host: '127.0.0.1' }, (response) => response.resume().on('end', resolve)),
  );
  await new Promise((resolve) => dns.lookup('localhost', resolve));
  await swc.transform(code);

  await inSpan('timer', (block) => setTimeout(block, 1));
  await inSpan('immediate', (block) => setImmediate(block));
  await inSpan('tick', (block) => process.nextTick(block));
  await inSpan('queueMicrotask', (block) => queueMicrotask(block));
  await inSpan('await', async (block) => {
    await null;
    block();
  });
  await inSpan('fs callback', (block) => fs.readFile(__filename, block));
  await inSpan('fs promise', async (block) => {
    await fs.promises.readFile(__filename);
    block();
  });
  // napi-rs gives Node.js the promise itself as the async resource
  await inSpan('promise of an add-on', async (block) => {
    await swc.transform(code);
    block();
  });
  await inSpan('stream', (block) => fs.createReadStream(__filename).once('data', block));
  await inSpan('dns callback', (block) => {
    // From an immediate: what the timer has done until here is in another iteration.
    setImmediate(() => dns.lookup('localhost', block));
  });
  await inSpan('bound emitter', (block) => {
    const emitter = context.bind(context.active(), new EventEmitter()).on('job', block);
    outsideOfSpans(() => emitter.emit('job'));
  });
  await inSpan('HTTP client response', (block) => {
    http.get({ port, host: '127.0.0.1' }, (response) => response.resume().on('end', block));
  });
  await alone(async () => {
    const server = http.createServer(async (_request, response) => {
      const end = startTruth('HTTP handler that awaits');
      work(BLOCK_MILLIS / 5);
      for (let i = 0; i < 10; i++) {
        await null;
        work(BLOCK_MILLIS / 10);
      }
      // The first answer takes some milliseconds, in the same drain.
      response.end();
      end();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    await new Promise((resolve) =>
      http.get({ port: server.address().port, host: '127.0.0.1', agent: false }, (response) =>
        response.resume().on('end', resolve),
      ),
    );
    server.close();
  });
  await inSpan('async resource', (block) => {
    const resource = new AsyncResource('Job');
    outsideOfSpans(() => resource.runInAsyncScope(block));
  });
  await inSpan('nested async resources', (block) => {
    const [outer, middle, inner] = ['Outer', 'Middle', 'Inner'].map(
      (type) => new AsyncResource(type),
    );
    outsideOfSpans(() => {
      outer.runInAsyncScope(() => middle.runInAsyncScope(() => inner.runInAsyncScope(block)));
    });
  });
  await inSpan('pooled connection', (block) => {
    const query = new AsyncResource('Query');
    const openedBy = (span) =>
      setTimeout(() => {
        query.runInAsyncScope(block);
        span.end();
      }, 1);
    context.with(ROOT_CONTEXT, () => tracer.startActiveSpan('another request', openedBy));
  });

  await alone(async () => {
    socket.send('go');
    await new Promise((resolve) => {
      socket.once('message', () => {
        holdInSpan('WebSocket message');
        resolve();
      });
    });
  });
  await alone(async () => {
    upstream.postMessage('go');
    await new Promise((resolve) => {
      upstream.once('message', () => {
        holdInSpan('port message');
        resolve();
      });
    });
  });
  await alone(async () => {
    await null;
    holdInSpan('span after an await');
  });
  await alone(() => block('no span', BLOCK_MILLIS));

  // several blocks, and parts of blocks
  await alone(() => {
    holdInSpan('first of two spans');
    holdInSpan('second of two spans');
  });
  await alone(() =>
    tracer.startActiveSpan('outer half', (outer) => {
      const end = startTruth('two nested spans');
      work(SHORT_MILLIS);
      tracer.startActiveSpan('inner half', (inner) => {
        work(SHORT_MILLIS);
        inner.end();
      });
      end();
      outer.end();
    }),
  );
  await alone(() => {
    block('before a span', BLOCK_MILLIS);
    holdInSpan('inside a span');
    block('after a span', BLOCK_MILLIS);
  });
  await alone(() => {
    holdInSpan('before a gap');
    work(SHORT_MILLIS);
    holdInSpan('after a gap');
  });
  await alone(
    () =>
      new Promise((resolve) => {
        let fired = 0;
        const timer = setInterval(() => {
          fired++;
          if (fired !== 2) holdInSpan(`interval ${fired}`);
          if (fired === 3) resolve(clearInterval(timer));
        }, 20);
      }),
  );
  await alone(
    () =>
      new Promise((resolve) => {
        tracer.startActiveSpan('ticks', (span) => {
          let left = 100;
          const end = startTruth('ticks');
          const step = () => {
            work(BLOCK_MILLIS / 100);
            if (--left > 0) return process.nextTick(step);
            end();
            span.end();
            resolve();
          };
          process.nextTick(step);
        });
      }),
  );
  await alone(
    () =>
      new Promise((resolve) => {
        tracer.startActiveSpan('timers due together', (span) => {
          let end;
          for (let i = 1; i <= 10; i++) {
            setTimeout(() => {
              end ??= startTruth('timers due together');
              work(BLOCK_MILLIS / 10);
              if (i < 10) return;
              end();
              span.end();
              resolve();
            }, 1);
          }
        });
      }),
  );

  socket.terminate();
  await upstream.terminate();
});
