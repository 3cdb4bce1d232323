/**
 * One busy period, watched until it ends: asks for stack samples of each block in it when they are
 * due, and has a block reported that does not end. Watchdog thread only.
 */
import { CaptureBudget, CaptureSchedule } from './capture-schedule.ts';
import type { Capture } from './capture-session.ts';
import type { CaptureTimes } from './capture-times.ts';
import { type CaptureReply, type OngoingReport, type PublishedSample, TAKEN } from './protocol.ts';
import { Mark } from './shared-memory.ts';
import { suspendedWithin } from './suspension-marks.ts';

/**
 * From this share of the age on at which a block is reported, the report is near: what it needs is
 * in each answer, since the thread may be in native code by then and not answer.
 */
const NEAR_SHARE = 0.25;
/** How long the report of an ongoing block waits for a fresh stack sample. */
const FRESH_CAPTURE_MILLIS = 250;

/** What the watchdog thread's loop works with; unit tests bring their own. */
export interface LoopParts<Facts extends object = object> {
  readonly options: CaptureTimes & { readonly unfinishedAfterMillis: number };
  readonly marks: Float64Array;
  /** The watched thread's `performance.now()`. */
  now(): number;
  /** Undefined where stack samples cannot be taken. */
  readonly capture: Capture<Facts> | undefined;
  /** Whether the latest request for a stack sample has come to the watched thread. */
  isReached(): boolean;
  /** Facts of the native call that runs, where it is known to be long. */
  longCall(): Facts | undefined;
  /** Has an ongoing block reported. */
  reportOngoing(report: OngoingReport<Facts>): void;
  /** Passes the answer to a stack sample on: then each answer has what a report needs. */
  readonly publish?: ((sample: PublishedSample<Facts>) => void) | undefined;
}

/** The part of the busy period that has not been reported. */
interface RunningBlock<Facts extends object> {
  /** When that part began. */
  readonly since: number;
  /** When its block began, as the latest stack sample had it: the part may have begun earlier. */
  start: number;
  readonly schedule: CaptureSchedule;
  reply: CaptureReply<Facts> | undefined;
  isReported: boolean;
}

export class BusyPeriod<Facts extends object = object> {
  readonly #budget = new CaptureBudget();
  #block: RunningBlock<Facts>;

  constructor(
    readonly start: number,
    private readonly parts: LoopParts<Facts>,
  ) {
    this.#block = this.#newBlock();
  }

  /** Captures and reports what is due; returns how long to sleep until the next time. */
  async watch(): Promise<number> {
    const { capture, options } = this.parts;
    let isAnswered = false;
    this.#followBlock();
    if (capture !== undefined && (this.#untilReport() <= 0 || this.#untilCapture() <= 0)) {
      const time = this.parts.now();
      this.#block.schedule.take(time - this.#block.since);
      this.#budget.take(time);
      const isNear = this.#untilReport() <= options.unfinishedAfterMillis * (1 - NEAR_SHARE);
      const isAsked = isNear || this.parts.publish !== undefined;
      const { reply, isOver } = await capture(this.start, isAsked, () => this.wait());
      if (isOver) return options.busyAfterMillis;
      this.#followBlock();
      isAnswered = reply !== undefined;
      if (reply === TAKEN) {
        // The answer has taken so long that the report is due: that needs another one.
        if (this.#untilReport() <= 0) return 0;
      } else if (reply !== undefined) this.#learn(reply);
    }
    if (this.#untilReport() <= 0) this.#report(isAnswered);
    // Not longer than it takes the next block to become busy.
    return Math.min(this.#untilCapture(), this.#untilReport(), options.busyAfterMillis);
  }

  /** A stack sample is under way: reports what is overdue. */
  wait(): void {
    // In a native call the thread cannot answer: what was known before has to do.
    if (this.#untilReport() <= -FRESH_CAPTURE_MILLIS) this.#report();
  }

  /** When the running part of the period began that has not been reported. */
  #unreportedSince(): number {
    return Math.max(this.start, this.parts.marks[Mark.reportedUntil] as number);
  }

  #newBlock(): RunningBlock<Facts> {
    const since = this.#unreportedSince();
    return {
      since,
      start: since,
      schedule: new CaptureSchedule(this.parts.options),
      reply: undefined,
      isReported: this.parts.options.unfinishedAfterMillis === 0,
    };
  }

  /** After a block has been reported, sampling begins anew. */
  #followBlock(): void {
    if (this.#unreportedSince() !== this.#block.since) this.#block = this.#newBlock();
  }

  #learn(reply: CaptureReply<Facts>): void {
    const block = this.#block;
    // An answer from a block that has been reported since.
    if (reply.start < block.since) return;
    const last = block.reply;
    // Between two promise reactions no code is running: what ran before in the same block is kept.
    const knowsLess = !reply.isCodeKnown && last?.start === reply.start;
    block.reply = knowsLess ? { ...reply, facts: { ...last.facts, ...reply.facts } } : reply;
    block.start = reply.start;
    const { facts } = block.reply;
    this.parts.publish?.({ busyPeriod: this.start, start: reply.start, facts });
  }

  /** Milliseconds until the next capture. */
  #untilCapture(): number {
    if (this.parts.capture === undefined) return Number.POSITIVE_INFINITY;
    const { since, schedule } = this.#block;
    return Math.max(since + schedule.due, this.#budget.due) - this.parts.now();
  }

  /** Milliseconds until the block is due to be reported as ongoing, suspensions not counted. */
  #untilReport(): number {
    const { isReported, start } = this.#block;
    if (isReported) return Number.POSITIVE_INFINITY;
    const { marks, options } = this.parts;
    const time = this.parts.now();
    return options.unfinishedAfterMillis - (time - start) + suspendedWithin(marks, start, time);
  }

  /** @param isAnswered the watched thread has just answered: it is not in a native call */
  #report(isAnswered = false): void {
    const { parts } = this;
    const block = this.#block;
    const hasEnded = this.#unreportedSince() !== block.since;
    if (hasEnded || parts.marks[Mark.busyPeriodStart] !== this.start) return;
    block.isReported = true;
    const time = parts.now();
    parts.reportOngoing({
      // In a native call the thread cannot answer: what it left behind is the latest.
      facts: (isAnswered ? undefined : parts.longCall()) ?? block.reply?.facts,
      time,
      ageMillis: time - block.start,
      canCapture: parts.capture !== undefined && parts.isReached(),
      isInspected: parts.marks[Mark.inspected] === 1,
    });
  }
}
