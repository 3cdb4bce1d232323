// A block that does not end, or takes very long to. The argument says which.
const childProcess = require('node:child_process');
/** Taken before the instrumentation wraps it. */
const { execFileSync } = childProcess;
const crypto = require('node:crypto');
const fs = require('node:fs');
const { runInNewContext } = require('node:vm');
const { trace } = require('@opentelemetry/api');
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
const telemetry = require('./support/telemetry.cjs');
const { alone, eventLoopConfig, main, startNodeSdk, truthOf, wait } = telemetry;

const sdk = startNodeSdk({
  serviceName: 'blocked',
  instrumentations: [new EventLoopInstrumentation(eventLoopConfig({ unfinishedAfterMillis: 500 }))],
});

function spinForEver() {
  for (;;);
}

/**
 * Until the file is there that the second argument names: nothing else gets through to a thread
 * that is blocked. No function of its own asks for it, which a stack sample might name instead.
 */
function spinLong() {
  do for (const end = performance.now() + 100; performance.now() < end; );
  while (!fs.existsSync(process.argv[3]));
}

function standInNativeCode() {
  execFileSync('sh', ['-c', 'until [ -e "$0" ]; do sleep 0.1; done', process.argv[3]]);
}

function waitInShell() {
  childProcess.execFileSync('sh', ['-c', 'until [ -e "$0" ]; do sleep 0.1; done', process.argv[3]]);
}

async function awaitForEver() {
  for (let n = 0; ; n++) {
    await null;
    for (let i = 0; i < 1e5; i++) n = (n * 31 + i) % 1_000_003;
  }
}

/** Takes another thread some milliseconds: the loop waits for it. */
const code = 'function sum(a, b) { return a + b; }\n'.repeat(500);

/** napi-rs gives Node.js the promise itself as the async resource. */
async function spinAfterAddOn() {
  await require('@swc/core').transform(code);
  spinForEver();
}

/** V8 ends it inside the call of a built-in. */
function endHalfWay() {
  const deriveKey = () => crypto.pbkdf2Sync('password', 'salt', 200_000, 64, 'sha512');
  try {
    runInNewContext('deriveKey()', { deriveKey }, { timeout: 10 });
  } catch (error) {
    if (error.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
  }
}

const scenarios = {
  spinForEver,
  spinLong,
  spinAfterEnded: spinLong,
  standInNativeCode,
  waitInShell,
  awaitForEver,
  spinAfterAddOn,
};
const asynchronous = ['awaitForEver', 'spinAfterAddOn'];

main(sdk, async () => {
  await wait(200);
  if (process.argv[2] === 'spinAfterEnded') await alone(endHalfWay);
  await alone(() =>
    trace.getTracer('ongoing').startActiveSpan('job', async (span) => {
      fs.writeSync(1, `job ${span.spanContext().traceId} ${span.spanContext().spanId}\n`);
      const work = scenarios[process.argv[2]]; // called as a function, not as a method
      if (asynchronous.includes(process.argv[2])) await work();
      truthOf('job', scenarios[process.argv[2]], { waits: !process.argv[2].startsWith('spin') });
      span.end();
    }),
  );
});
