/**
 * Every kind of block, of any length. Each is given the milliseconds it has to block the event
 * loop, and `truth`, which writes down that it did.
 */
const { AsyncResource } = require('node:async_hooks');
const { execFileSync } = require('node:child_process');
const { pbkdf2Sync } = require('node:crypto');
const { EventEmitter } = require('node:events');
const fs = require('node:fs');
const { context, ROOT_CONTEXT, trace } = require('@opentelemetry/api');

const PARTS = 10;
const page = Buffer.alloc(16_384, 'soak');
let hash = 0;

/** Works until `millis` have passed. It allocates nothing. */
function work(millis) {
  const end = performance.now() + millis;
  do {
    for (let i = 0; i < page.length; i++) hash = Math.imul(hash ^ page[i], 0x01000193);
  } while (performance.now() < end);
}

/** Iterations of PBKDF2 in a millisecond: before the first turn of the loop. */
const iterationsPerMillis = (() => {
  const start = performance.now();
  pbkdf2Sync('secret', 'salt', 50_000, 64, 'sha512');
  return 50_000 / (performance.now() - start);
})();

/** In a callback of its own, which `schedule` makes. */
const later = (schedule) => (millis, truth) =>
  new Promise((resolve) => {
    schedule(() => {
      truth(() => work(millis));
      resolve();
    });
  });

/** @type {Record<string, (millis: number, truth: (work: () => unknown) => unknown) => Promise<void> | void>} */
const BLOCKS = {
  'in the handler': (millis, truth) => {
    truth(() => work(millis));
  },
  timer: later((block) => setTimeout(block, 3)),
  immediate: later(setImmediate),
  tick: later(process.nextTick),
  microtask: later(queueMicrotask),
  'fs callback': later((block) => fs.stat(__filename, block)),
  'async resource': later((block) => {
    const resource = new AsyncResource('Soak');
    context.with(ROOT_CONTEXT, () => setTimeout(() => resource.runInAsyncScope(block), 3));
  }),
  'bound listener': later((block) => {
    const emitter = context.bind(context.active(), new EventEmitter()).once('job', block);
    context.with(ROOT_CONTEXT, () => setTimeout(() => emitter.emit('job'), 3));
  }),
  'nested spans': (millis, truth) => {
    const tracer = trace.getTracer('soak');
    truth(() =>
      tracer.startActiveSpan('outer', (outer) => {
        work(millis / 2);
        tracer.startActiveSpan('inner', (inner) => {
          work(millis / 2);
          inner.end();
        });
        outer.end();
      }),
    );
  },
  // Chains begin in a drain. What ran in the callback before it is not part of one, unless that
  // makes it a block.
  'await chain': async (millis, truth) => {
    await null;
    await truth(async () => {
      for (let i = 0; i < PARTS; i++) {
        work(millis / PARTS);
        await null;
      }
    });
  },
  'tick chain': (millis, truth) =>
    new Promise((resolve) => {
      process.nextTick(() =>
        truth(
          () =>
            new Promise((end) => {
              let left = PARTS;
              const step = () => {
                work(millis / PARTS);
                if (--left > 0) return process.nextTick(step);
                end();
                resolve();
              };
              step();
            }),
        ),
      );
    }),
  'immediates of one turn': (millis, truth) =>
    new Promise((resolve) => {
      let left = PARTS;
      let end;
      const ended = new Promise((done) => {
        end = done;
      });
      for (let i = 0; i < PARTS; i++) {
        setImmediate(() => {
          if (left === PARTS) truth(() => ended);
          work(millis / PARTS);
          if (--left > 0) return;
          end();
          resolve();
        });
      }
    }),
  pbkdf2Sync: (millis, truth) => {
    truth(() =>
      pbkdf2Sync('secret', 'salt', Math.ceil(millis * iterationsPerMillis), 64, 'sha512'),
    );
  },
  execFileSync: (millis, truth) => {
    truth(() => execFileSync('sleep', [String(millis / 1000)]));
  },
};

module.exports = { BLOCKS, work };
