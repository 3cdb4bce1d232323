// Another thread of the process is the debugger of one that blocks, as Sentry's ANR detection is:
// it pauses it, sets breakpoints, steps and resumes, while stack samples are due all the time. The
// argument says which thread is watched.
const { pbkdf2Sync } = require('node:crypto');
const { readFileSync, writeSync } = require('node:fs');
const { Session } = require('node:inspector');
const { setTimeout: wait } = require('node:timers/promises');
const { pathToFileURL } = require('node:url');
const { isMainThread, threadId, Worker, workerData } = require('node:worker_threads');

const PAUSES = 100;
/** A pause that comes during a stack sample is lost, and asked for again. */
const ASKS_AGAIN_AFTER_MILLIS = 300;
/** Longer than a turn takes. */
const TURN_MILLIS = 100;
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
  const stops = async (ask) => {
    const pause = paused();
    await ask();
    return Promise.race([pause, wait(ASKS_AGAIN_AFTER_MILLIS)]);
  };
  /** One pause may come for two that were asked for, or another one after it. */
  const stop = async (ask) => {
    do await post('Debugger.resume');
    while (!(await stops(ask)));
  };
  const pause = () => post('Debugger.pause');
  const breakpoint = { url: pathToFileURL(__filename).href, lineNumber: LINE };
  let pauses = 0;
  for (; pauses < PAUSES; pauses++) {
    Atomics.wait(words, 0, Atomics.load(words, 0), TURN_MILLIS);
    if (pauses % 2 === 0) await stop(pause);
    else {
      let breakpointId;
      await stop(async () => {
        breakpointId ??= (await post('Debugger.setBreakpointByUrl', breakpoint)).breakpointId;
      });
      for (let i = 0; i < 2; i++)
        if (!(await stops(() => post('Debugger.stepOver')))) await stop(pause);
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
    new Promise((resolve) => {
      session.post(method, params, (_error, result) => resolve(result));
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
