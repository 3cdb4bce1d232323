/**
 * The watchdog: a thread that notices, by its own clock, that the main thread has been busy for long, and then has it capture
 * its stack. Bundled into a string at build time (`scripts/bundle-workers.mjs`), so that it survives every bundler.
 *
 * It sleeps nearly always: while little is done it wakes up some 30 times a second at the default threshold, and twice a second while the
 * loop rests (`npm run bench -- idle`).
 */
import { writeSync } from 'node:fs';
import type { Session } from 'node:inspector';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleepFor } from 'node:timers/promises';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import type { ReporterData } from './ongoing/exporter.worker.ts';
import { unfinishedLine } from './ongoing/ongoing-line.ts';
import { exportsOtlp } from './ongoing/otlp-environment.ts';
import { CaptureSchedule } from './watchdog/capture-schedule.ts';
import { originOfClock } from './watchdog/clock-origin.ts';
import type { CaptureReply, WatchdogData, WatchdogMessage } from './watchdog/protocol.ts';
import {
  Flag,
  MAX_STANDSTILLS,
  Mark,
  STANDSTILL_MILLIS,
  standstillWithin,
} from './watchdog/shared-memory.ts';

const data = workerData as WatchdogData;
const { marks, flags } = data.memory;

/** While a capture is under way, the main thread's exit must not be kept waiting for long. */
const POLL_MILLIS = 2;
const MAX_POLL_MILLIS = 10;
/** The watchdog has to notice when it is to end. */
const MAX_SLEEP_MILLIS = 500;
const MIN_SLEEP_MILLIS = 0.5;
/** How long a report of an unfinished block waits for a fresh capture. */
const FRESH_CAPTURE_MILLIS = 250;

const clockOffset = originOfClock() - data.clockOrigin;
/** The main thread's `performance.now()`. */
const now = () => performance.now() + clockOffset;
const isClosing = () => Atomics.load(flags, Flag.closing) === 1;
const tell = (message: WatchdogMessage) => parentPort?.postMessage(message);

/** Sleeps. Half as dear as a timer, and as exact; no message comes through meanwhile. `closing` wakes it up. */
function sleep(millis: number): void {
  const length = Math.min(MAX_SLEEP_MILLIS, Math.max(MIN_SLEEP_MILLIS, millis));
  const due = now() + length;
  marks[Mark.wakeUp] = due;
  Atomics.wait(flags, Flag.closing, 0, length);
  noteStandstill(due);
}

/** Sleeps until the loop does something, or for long: then it looks whether it is to end. */
function sleepWhileAtRest(): void {
  const due = now() + MAX_SLEEP_MILLIS;
  marks[Mark.wakeUp] = due;
  Atomics.wait(flags, Flag.resting, 1, MAX_SLEEP_MILLIS);
  noteStandstill(Math.min(due, marks[Mark.wakeUp] as number));
}

/** Sleeps while the inspector's answer may come: it needs the loop. */
async function sleepInLoop(millis: number): Promise<void> {
  const due = now() + millis;
  marks[Mark.wakeUp] = due;
  await sleepFor(millis);
  noteStandstill(due);
}

/** Who wakes up far too late has slept because the whole process stood still. */
function noteStandstill(due: number): void {
  const woken = now();
  if (woken - due <= STANDSTILL_MILLIS) return;
  const count = marks[Mark.standstills] as number;
  const slot = Mark.firstStandstill + 2 * (count % MAX_STANDSTILLS);
  marks[slot] = due;
  marks[slot + 1] = woken;
  marks[Mark.standstills] = count + 1;
}

type Inspector = typeof import('node:inspector');

let inspector: Inspector | undefined;
try {
  // Not imported: there are builds of Node.js without it.
  inspector = require('node:inspector') as Inspector;
} catch {}

// The same text every time, so that V8 compiles it once. The answer is the message's property.
const EXPRESSION = `((message) => {
  process.getBuiltinModule('node:diagnostics_channel').channel(${JSON.stringify(data.channel)}).publish(message);
  return message.reply;
})({})
//# sourceURL=${data.captureUrl}`;

/** Connected only while it is used: a process that exits with a session open says so, and waits. */
class CaptureSession {
  reply: CaptureReply | undefined;
  answered = false;
  #session: Session | undefined;

  open(): boolean {
    // In this order, with the main thread's in the opposite: one of us sees the other.
    Atomics.store(flags, Flag.connected, 1);
    if (isClosing() || inspector === undefined) {
      this.close();
      return false;
    }
    this.#session = new inspector.Session();
    this.#session.connectToMainThread();
    return true;
  }

  request(stretch: number): void {
    marks[Mark.captureStretch] = stretch;
    marks[Mark.captureRequestedAt] = now();
    this.#session?.post(
      'Runtime.evaluate',
      { expression: EXPRESSION, returnByValue: true, silent: true },
      (error, response) => {
        this.answered = true;
        const value: unknown = error ? undefined : response?.result?.value;
        if (typeof value === 'string') this.reply = JSON.parse(value) as CaptureReply;
      },
    );
  }

  close(): void {
    try {
      this.#session?.disconnect();
    } finally {
      this.#session = undefined;
      Atomics.store(flags, Flag.connected, 0);
      Atomics.notify(flags, Flag.connected);
    }
  }
}

/** The answer, `undefined` where there was none: `over` where the stretch had ended. */
interface Captured {
  readonly reply: CaptureReply | undefined;
  readonly over: boolean;
}

/** One capture of the running stretch. Waits until the main thread has answered, however long a native call takes. */
async function capture(stretch: number, onWaiting: () => void): Promise<Captured> {
  const session = new CaptureSession();
  try {
    if (!session.open()) return { reply: undefined, over: false };
    session.request(stretch);
    let poll = POLL_MILLIS;
    while (!session.answered && !isClosing()) {
      await sleepInLoop(poll);
      poll = Math.min(MAX_POLL_MILLIS, poll + 1);
      if (!session.answered) onWaiting();
    }
    return { reply: session.reply, over: session.answered && session.reply === undefined };
  } finally {
    session.close();
  }
}

/** Reports a block that has not ended: a line on stderr, and a span where the process exports by OTLP. */
function reportUnfinished(reply: CaptureReply | undefined, age: number): void {
  const isDebuggerPause = reply === undefined ? marks[Mark.inspected] === 1 : reply.debuggerPause === true;
  if (isDebuggerPause) return;
  try {
    writeSync(2, `${unfinishedLine(reply, inspector !== undefined, age, new Date(), process.pid)}\n`);
  } catch {
    // Nobody reads it.
  }
  if (reply === undefined || reply.spanUnwanted === true || !exportsOtlp(process.env)) return;
  // A thread of its own: exporters need far more memory than the watchdog has.
  const reporter = new Worker(data.reporterCode, {
    eval: true,
    name: 'event-loop-unfinished',
    argv: [],
    execArgv: [],
    stdout: true,
    stderr: true,
    workerData: {
      reply,
      endTimeMillis: reply.epochMillis + now(),
      resolveFrom: data.resolveFrom,
    } satisfies ReporterData,
    resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 },
  });
  reporter.on('error', () => {});
  reporter.unref();
}

/** One busy stretch, watched until it ends. */
class BusyStretch {
  #schedule = new CaptureSchedule(data);
  #lastReply: CaptureReply | undefined;
  /** Where the latest capture said that the running block began: a stretch may hold several. */
  #blockStart: number;
  #reported = data.unfinishedAfterMillis === 0;

  constructor(readonly start: number) {
    this.#blockStart = start;
  }

  #age(): number {
    return now() - this.start;
  }

  /** Milliseconds until the unfinished block is due to be reported. Time in which the whole process stood still does not count. */
  #untilReport(): number {
    if (this.#reported) return Number.POSITIVE_INFINITY;
    const time = now();
    return (
      data.unfinishedAfterMillis - (time - this.#blockStart) + standstillWithin(marks, this.#blockStart, time)
    );
  }

  #report(): void {
    if (marks[Mark.stretchStart] !== this.start) return;
    this.#reported = true;
    reportUnfinished(this.#lastReply, now() - this.#blockStart);
  }

  /** Captures if it is time to; returns how long to sleep. */
  async look(): Promise<number> {
    const reportIsDue = this.#untilReport() <= 0;
    if (inspector !== undefined && (reportIsDue || this.#schedule.due <= this.#age())) {
      this.#schedule.take(this.#age());
      const { reply, over } = await capture(this.start, () => {
        // The main thread is in native code: what was known before has to do.
        if (this.#untilReport() <= -FRESH_CAPTURE_MILLIS) this.#report();
      });
      if (reply !== undefined) {
        const last = this.#lastReply;
        // Between two promise reactions nobody is seen: who was seen before in the same block is better than nobody.
        const knowsLess = reply.functionName === undefined && last?.start === reply.start;
        this.#lastReply = knowsLess ? { ...last, ...reply } : reply;
        this.#blockStart = reply.start;
      }
      if (over) return data.busyAfterMillis;
    }
    if (this.#untilReport() <= 0) this.#report();
    // Not longer than it takes the next stretch to become busy.
    const untilCapture =
      inspector === undefined ? Number.POSITIVE_INFINITY : this.#schedule.due - this.#age();
    return Math.min(untilCapture, this.#untilReport(), data.busyAfterMillis);
  }
}

async function watch(): Promise<void> {
  let busy: BusyStretch | undefined;
  while (!isClosing()) {
    if (Atomics.load(flags, Flag.resting) === 1) {
      busy = undefined;
      sleepWhileAtRest();
      continue;
    }
    const start = marks[Mark.stretchStart] as number;
    const age = start === 0 ? 0 : now() - start;
    if (age < data.busyAfterMillis) {
      busy = undefined;
      sleep(data.busyAfterMillis - age);
      continue;
    }
    marks[Mark.busyStretch] = start;
    if (busy?.start !== start) busy = new BusyStretch(start);
    sleep(await busy.look());
  }
}

/** Says once whether captures can be made: by opening a session, and nothing else. */
function probe(): void {
  const session = new CaptureSession();
  try {
    if (session.open()) tell({ type: 'ready' });
    else if (inspector === undefined) tell({ type: 'no-capture', reason: 'this Node.js has no inspector' });
  } catch (error) {
    inspector = undefined;
    tell({ type: 'no-capture', reason: error instanceof Error ? error.message : String(error) });
  } finally {
    session.close();
  }
}

probe();
void watch();
