/**
 * The watchdog thread: notices, by its own clock, that the watched thread has been busy for long;
 * asks for stack samples of each block when they are due; and has a block reported that does not
 * end.
 *
 * It sleeps nearly always: while little is done it wakes up some 30 times a second at the default
 * threshold, and twice a second while the loop idles (`npm run bench -- idle`).
 */
import { CaptureClient, type CaptureRoute } from './capture-session.ts';
import { CaptureSchedule, type CaptureTimes } from './capture-times.ts';
import { clockOf } from './clock-origin.ts';
import { noteOthers } from './other-threads.ts';
import {
  type CaptureReply,
  type OngoingReport,
  TAKEN,
  type WatchdogData,
  type WatchdogMessage,
} from './protocol.ts';
import { Allowed, Progress, type SharedMemory, timeOf, Word } from './shared-memory.ts';
import { suspendedWithin } from './suspensions.ts';
import { ThreadCpu } from './thread-cpu.ts';
import type { Sleep } from './thread-sleep.ts';

/**
 * A block of this share of the age at which it is reported is near its report: each answer has what
 * that needs, since the thread may be in native code by then and not answer.
 */
const NEAR_SHARE = 0.25;
/**
 * A sample that is not due for lack of CPU is looked at again after this share of the usual gap,
 * and after twice that each further time, but a quarter of the gap at most.
 */
const MIN_POSTPONED = 1 / 8;
const MAX_POSTPONED = 1 / 4;
/**
 * Then after this part of the time in which it is due if the thread goes on to have as little CPU:
 * to look takes 85 µs beside busy processes.
 */
const LOOK_AGAIN = 1 / 2;
/** The kernel counts the time of a thread that runs 100 to 1000 times a second. */
const MIN_UNCOUNTED_MILLIS = 10;
/** How long the report of an ongoing block waits for a fresh stack sample. */
const FRESH_CAPTURE_MILLIS = 250;

export interface WatchedThread {
  readonly options: CaptureTimes & Pick<WatchdogData, 'threadFolder' | 'unfinishedAfterMillis'>;
  readonly memory: SharedMemory;
  /** The watched thread's `performance.now()`. */
  now(): number;
  /** The watched thread's CPU time. */
  readonly cpu: Pick<ThreadCpu, 'read' | 'ran' | 'waited' | 'slices' | 'isReady'>;
  /** Undefined if stack samples cannot be taken. */
  readonly client: Pick<CaptureClient, 'capture' | 'isReached'> | undefined;
  reportOngoing(report: OngoingReport): void;
}

/** Watches until {@link Word.closing} is set. */
export async function watchLoop(
  sleep: Pick<Sleep, 'sleep' | 'sleepWhileIdle'>,
  thread: WatchedThread,
): Promise<void> {
  const { memory } = thread;
  const { words } = memory;
  const { busyAfterMillis, threadFolder } = thread.options;
  let period: BusyPeriod | undefined;
  /** Marks the busy period if it is old; milliseconds until it is otherwise. */
  const follow = (): number => {
    const id = Atomics.load(words, Word.busyPeriod);
    if (period?.id === id) return 0;
    period = undefined;
    if (id === 0) return busyAfterMillis;
    const now = thread.now();
    const start = timeOf(id, now);
    const left = busyAfterMillis - (now - start);
    if (left > 0) return left;
    noteOthers(memory, threadFolder);
    Atomics.store(words, Word.markedBusyPeriod, id);
    period = new BusyPeriod(id, start, thread);
    return 0;
  };
  while (!memory.isSet(Word.closing)) {
    if (memory.isSet(Word.idle)) {
      period = undefined;
      await sleep.sleepWhileIdle();
      continue;
    }
    let millis = follow();
    if (period !== undefined) {
      millis = await period.watch();
    }
    await sleep.sleep(millis);
  }
}

/** The part of the busy period that has not been reported. */
interface RunningBlock {
  /** When that part began. */
  readonly since: number;
  /** When its block began, as the latest stack sample had it: the part may have begun earlier. */
  start: number;
  /** How long the thread had run, and its run delay, by then, or at the beat before. */
  readonly ran: number;
  readonly runDelay: number;
  /** The same, and how often it was given a CPU, when a sample was due last by the counters. */
  ranBefore: number;
  slicesBefore: number;
  readonly schedule: CaptureSchedule;
  reply: CaptureReply | undefined;
  isReported: boolean;
}

/** One busy period, watched until it ends. */
class BusyPeriod {
  #block: RunningBlock;
  #postponedBy: number;

  constructor(
    readonly id: number,
    private readonly start: number,
    private readonly thread: WatchedThread,
  ) {
    this.#block = this.#newBlock();
    this.#postponedBy = thread.options.captureEveryMillis * MIN_POSTPONED;
  }

  /** Captures and reports what is due; returns how long to sleep until the next time. */
  async watch(): Promise<number> {
    const { client, memory, options } = this.thread;
    let isAnswered = false;
    this.#followBlock();
    let untilCapture = this.#untilCapture();
    const allowed = Atomics.load(memory.words, Word.allowed);
    if (allowed === Allowed.none && untilCapture <= 0 && this.#untilReport() > 0) {
      this.#take();
      Atomics.add(memory.words, Word.skipped, 1);
      untilCapture = this.#untilCapture();
    }
    if (client !== undefined && (this.#untilReport() <= 0 || untilCapture <= 0)) {
      this.#take(allowed !== Allowed.all);
      const isNear = this.#untilReport() <= options.unfinishedAfterMillis * (1 - NEAR_SHARE);
      const { reply, isOver } = await client.capture(this.id, isNear, () => this.wait());
      if (isOver) return options.busyAfterMillis;
      this.#followBlock();
      isAnswered = reply !== undefined;
      if (reply === TAKEN) {
        // The answer has taken so long that the report is due: that needs another one.
        if (this.#untilReport() <= 0) return 0;
      } else if (reply !== undefined) this.#learn(reply);
      untilCapture = this.#untilCapture();
    }
    if (this.#untilReport() <= 0) this.#report(isAnswered);
    // The next block may become busy after `busyAfterMillis`.
    return Math.min(untilCapture, this.#untilReport(), options.busyAfterMillis);
  }

  /** A stack sample is under way: reports what is overdue. */
  wait(): void {
    // The thread cannot answer in a native call, so earlier facts are reported.
    if (this.#untilReport() <= -FRESH_CAPTURE_MILLIS) this.#report();
  }

  /** When the running part of the period began that has not been reported. */
  #unreportedSince(): number {
    return Math.max(this.start, this.thread.memory.progress.get(Progress.reportedUntil));
  }

  #newBlock(): RunningBlock {
    const since = this.#unreportedSince();
    const { [Progress.ran]: ran, [Progress.runDelay]: runDelay } =
      this.thread.memory.progress.read();
    return {
      since,
      start: since,
      ran: ran || Number.NaN,
      runDelay: runDelay || Number.NaN,
      ranBefore: Number.NaN,
      slicesBefore: Number.NaN,
      schedule: new CaptureSchedule(this.thread.options),
      reply: undefined,
      isReported: this.thread.options.unfinishedAfterMillis === 0,
    };
  }

  /** Sampling begins anew when a block has been reported. */
  #followBlock(): void {
    if (this.#unreportedSince() !== this.#block.since) this.#block = this.#newBlock();
  }

  #learn(reply: CaptureReply): void {
    const block = this.#block;
    // The answer is about a block that has been reported since.
    if (reply.start < block.since) return;
    const last = block.reply;
    // No code runs between two promise reactions: the last code of the same block is kept.
    const knowsLess = !reply.isCodeKnown && last?.start === reply.start;
    block.reply = knowsLess ? { ...reply, facts: { ...last.facts, ...reply.facts } } : reply;
    block.start = reply.start;
  }

  /** Milliseconds until the next stack sample is due, if the thread has a CPU until then. */
  #untilCapture(): number {
    if (this.thread.client === undefined) return Number.POSITIVE_INFINITY;
    const { cpu, now, options } = this.thread;
    const { ran: ranBefore, since, schedule } = this.#block;
    const left = since + schedule.due - now();
    // The counters are read only if it is due by the wall.
    if (left > 0) return left;
    const postponed = left + this.#runDelay();
    const isWithoutCpu = postponed <= 0 && this.#isWithoutCpu();
    if (postponed <= 0 && !isWithoutCpu) return 0;
    const least = this.#postponedBy;
    const most = options.captureEveryMillis * MAX_POSTPONED;
    if (least < most) {
      this.#postponedBy = Math.min(2 * least, most);
    } else if (isWithoutCpu || cpu.isReady()) {
      const ran = cpu.ran - ranBefore;
      // With as much CPU as it had so far.
      const expected = ((schedule.due - ran) * (now() - since)) / ran;
      return Math.max(postponed, expected * LOOK_AGAIN || 0, least);
    }
    return Math.max(postponed, least);
  }

  /** @param isFew the next sample is to come late */
  #take(isFew = false): void {
    const { options, now } = this.thread;
    const { schedule, since } = this.#block;
    this.#postponedBy = options.captureEveryMillis * MIN_POSTPONED;
    schedule.take(now() - since - this.#runDelay(), isFew);
  }

  /** How long the thread has been ready to run without a CPU in the block. */
  #runDelay(): number {
    const { cpu } = this.thread;
    return (cpu.read() && Math.max(0, cpu.waited - this.#block.runDelay)) || 0;
  }

  /**
   * Whether the thread is ready to run and has no CPU at the moment. The kernel counts that as run
   * delay when it ends; until then, it is as if the thread slept.
   */
  #isWithoutCpu(): boolean {
    const block = this.#block;
    const { cpu } = this.thread;
    const { ran, waited, slices } = cpu;
    const isRunning = slices === block.slicesBefore && ran > block.ranBefore;
    block.ranBefore = ran;
    block.slicesBefore = slices;
    const ranInBlock = ran - block.ran;
    const counted = ranInBlock + waited - block.runDelay;
    const isUncounted = this.thread.now() - block.since - counted >= MIN_UNCOUNTED_MILLIS;
    return isUncounted && !isRunning && ranInBlock < block.schedule.due && cpu.isReady();
  }

  /** Milliseconds until the block is due to be reported as ongoing, suspensions not counted. */
  #untilReport(): number {
    const { isReported, start } = this.#block;
    if (isReported) return Number.POSITIVE_INFINITY;
    const { memory, options } = this.thread;
    const time = this.thread.now();
    return options.unfinishedAfterMillis - (time - start) + suspendedWithin(memory, start, time);
  }

  /** @param isAnswered the watched thread has just answered: it is not in a native call */
  #report(isAnswered = false): void {
    const { client, memory } = this.thread;
    const block = this.#block;
    const hasEnded = this.#unreportedSince() !== block.since;
    if (hasEnded || Atomics.load(memory.words, Word.busyPeriod) !== this.id) return;
    block.isReported = true;
    if (memory.isSet(Word.closing)) return;
    const time = this.thread.now();
    this.thread.reportOngoing({
      // The thread cannot answer in a native call, and has left the latest facts behind.
      facts: (isAnswered ? undefined : memory.longCall.readJson()) ?? block.reply?.facts,
      time,
      ageMillis: time - block.start,
      canCapture: client?.isReached === true,
    });
  }
}

/** Watches one thread until it, or its watchdog, ends. */
export function watchThread(
  options: WatchdogData,
  memory: SharedMemory,
  sleep: Sleep,
  route: CaptureRoute,
  post: (message: WatchdogMessage) => void,
  reportOngoing: (report: OngoingReport) => void,
): Promise<void> {
  const now = clockOf(options.clockOrigin);
  const client = new CaptureClient(options.expression, memory, route, now, sleep, post);
  const availability = client.availability();
  post(availability);
  const canCapture = availability.type !== 'no-capture';
  const cpu = new ThreadCpu(options.threadFolder);
  cpu.start();
  const thread = { options, memory, now, cpu, client: canCapture ? client : undefined };
  return watchLoop(sleep, { ...thread, reportOngoing }).finally(() => cpu.stop());
}
