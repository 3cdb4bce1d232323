// Another thread of the process is the debugger of one that blocks, as Sentry's ANR detection is:
// it pauses it, sets breakpoints, steps and resumes, while stack samples are due all the time. The
// argument says which thread is watched.
const { pbkdf2Sync } = require('node:crypto');
const { readFileSync, writeSync } = require('node:fs');
const { Session } = require('node:inspector');
const { setTimeout: wait } = require('node:timers/promises');
const { isMainThread, threadId, Worker, workerData } = require('node:worker_threads');

const PAUSES = 100;
/** A pause that comes during a stack sample is lost, and asked for again. */
const ASKS_AGAIN_AFTER_MILLIS = 300;
const HANGS_AFTER_MILLIS = 40_000;
/** A stack sample is due when a turn is half as old. */
const OPTIONS = { thresholdMillis: 10, lagIntervalMillis: 10, unfinishedAfterMillis: 0 };
/** The line on which a breakpoint is set. */
const LINE = readFileSync(__filename, 'utf8').split('\n').indexOf('  let sum = n; // stops here');

function work(n) {
  let sum = n; // stops here
  sum *= 2;
  sum -= 1;
  return sum;
}

/** In native code, in which a pause waits together with a stack sample, and then in JavaScript. */
function turn() {
  pbkdf2Sync('secret', 'salt', 10_000, 64, 'sha512');
  let sum = 0;
  for (const until = performance.now() + 10; performance.now() < until; ) sum += work(sum % 7);
  return sum;
}

async function watched() {
  const keepAlive = setInterval(() => {}, 1000);
  if (process.argv[3] !== 'off') {
    const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
    await new EventLoopInstrumentation(OPTIONS).ready();
  }
  /** The number of turns, and whether the debugger has gone. */
  const words = new Int32Array(new SharedArrayBuffer(8));
  const data = { role: 'debugger', words, target: threadId };
  new Worker(__filename, { workerData: data, execArgv: [] });
  while (Atomics.load(words, 1) === 0) {
    await wait(1);
    Atomics.add(words, 0, 1);
    Atomics.notify(words, 0);
    turn();
  }
  clearInterval(keepAlive);
}

async function debug({ words, target }) {
  // A session does not keep the thread alive.
  const keepAlive = setInterval(() => {}, 1000);
  const { post, paused, disconnect } = await connect(target);
  await post('Debugger.enable');
  const stopped = async (ask) => {
    for (;;) {
      const pause = paused();
      await ask();
      if (await Promise.race([pause, wait(ASKS_AGAIN_AFTER_MILLIS)])) return;
    }
  };
  let pauses = 0;
  for (; pauses < PAUSES; pauses++) {
    Atomics.wait(words, 0, Atomics.load(words, 0));
    const urlRegex = 'paused-by-another\\.cjs$';
    let breakpointId;
    if (pauses % 2 === 0) await stopped(() => post('Debugger.pause'));
    else {
      await stopped(async () => {
        if (breakpointId) return;
        const at = { urlRegex, lineNumber: LINE };
        ({ breakpointId } = await post('Debugger.setBreakpointByUrl', at));
      });
      for (let i = 0; i < 2; i++) {
        const step = paused();
        await post('Debugger.stepOver');
        await step;
      }
      await post('Debugger.removeBreakpoint', { breakpointId });
    }
    await post('Debugger.resume');
  }
  await post('Debugger.disable');
  disconnect();
  clearInterval(keepAlive);
  Atomics.store(words, 1, 1);
  writeSync(1, `${pauses}`);
}

/** To the main thread, and from there to a worker thread. */
async function connect(target) {
  const session = new Session();
  session.connectToMainThread();
  const disconnect = () => session.disconnect();
  let onPaused = () => {};
  const paused = () =>
    new Promise((resolve) => {
      onPaused = () => resolve(true);
    });
  const ask = (method, params) =>
    new Promise((resolve, reject) => {
      session.post(method, params, (error, result) => (error ? reject(error) : resolve(result)));
    });
  if (target === 0) {
    session.on('Debugger.paused', () => onPaused());
    return { post: ask, paused, disconnect };
  }
  const answers = new Map();
  let sessionId;
  session.on('NodeWorker.attachedToWorker', ({ params }) => {
    if (params.workerInfo.title.startsWith(`[worker ${target}]`)) sessionId = params.sessionId;
  });
  session.on('NodeWorker.receivedMessageFromWorker', ({ params }) => {
    const { id, method, result } = JSON.parse(params.message);
    if (method === 'Debugger.paused') onPaused();
    answers.get(id)?.(result);
    answers.delete(id);
  });
  await ask('NodeWorker.enable', { waitForDebuggerOnStart: false });
  let id = 0;
  const post = (method, params) =>
    new Promise((resolve) => {
      answers.set(++id, resolve);
      ask('NodeWorker.sendMessageToWorker', {
        sessionId,
        message: JSON.stringify({ id, method, params }),
      });
    });
  return { post, paused, disconnect };
}

if (workerData?.role === 'debugger') debug(workerData);
else if (!isMainThread || process.argv[2] !== 'worker') watched();
else new Worker(__filename, { argv: process.argv.slice(2) });

if (isMainThread) {
  const hangs = `setTimeout(() => {
    require('node:fs').writeSync(1, 'hangs');
    process.kill(process.pid, 'SIGKILL');
  }, ${HANGS_AFTER_MILLIS});`;
  new Worker(hangs, { eval: true, env: {}, execArgv: [] }).unref();
}
