/**
 * Records for how long the thread was not given a CPU, and why: `event_loop.suspension.duration`.
 *
 * Reads the kernel's counters on each beat of the lag timer, and when the loop stops idling. A
 * thread that reads has a CPU, so a suspension lies between two readings and is recorded once.
 */

import type { Clock } from '../../../support/clock.ts';
import type { SuspensionReason } from '../../../types.ts';
import type { SharedMemory } from '../../sample/shared-memory.ts';
import { maybeStoppedWithin, stoppedWithin, suspendedWithin } from '../../sample/suspensions.ts';
import type { RunDelay } from './run-delay.ts';

/** Shorter ones are not recorded: the scheduler's slices are a few milliseconds. */
export const MIN_SUSPENSION_MILLIS = 20;
/** As many of the latest that it slept for others are remembered. */
const MAX_SLEPT = 16;
/** At most this many are recorded for one interval. Past it, each of them is longer. */
const MAX_RECORDS = 1000;

/** The process may have been stopped in code; the watchdog thread has not noted it yet. */
interface InCode {
  readonly from: number;
  readonly until: number;
  /** Milliseconds in which the thread neither ran nor waited for a CPU nor for events. */
  readonly missing: number;
  /**
   * The part of the stop that fell into the loop's wait for events. It is already recorded, so it
   * is subtracted from what the watchdog thread notes.
   */
  readonly inWait: number;
}

export interface SuspensionSources {
  readonly runDelay: Pick<RunDelay, 'start' | 'stop' | 'sample' | 'schedstat'>;
  /** The watchdog's memory, while its thread watches. */
  memory(): SharedMemory | undefined;
  /** How often threads of this process were made to give up their CPU so far. */
  preemptions(): number;
}

interface Reading {
  readonly at: number;
  readonly idle: number;
  /** Whether the kernel counts: else CPU time is all there is. */
  readonly isKnown: boolean;
  readonly ran: number;
  readonly waitedForCpu: number;
  readonly slices: number;
  readonly preemptions: number;
}

export class Suspensions {
  #latest: Reading | undefined;
  #inCode: InCode | undefined;
  #slept: { readonly end: number; readonly millis: number }[] = [];

  constructor(
    private readonly clock: Clock,
    private readonly sources: SuspensionSources,
    private readonly record: (millis: number, reason: SuspensionReason) => void,
  ) {}

  start(): void {
    this.sources.runDelay.start();
  }

  stop(): void {
    try {
      this.finish();
    } finally {
      this.#latest = undefined;
      this.#inCode = undefined;
      this.sources.runDelay.stop();
    }
  }

  /**
   * A beat of the lag timer begins, or the loop stops idling.
   * @param at when what runs began
   * @param due when the timer was due; NaN without one
   * @param waited how much of the time since then the loop waited for events, if that is known
   * @returns how much of the time since `due` is no lag: the loop waited, or the process was
   *   stopped
   */
  sample(at: number, due: number, waited = 0): number {
    const before = this.#latest;
    const now = this.#read(at);
    this.#latest = now;
    const lateness = Math.max(0, at - due) || 0;
    if (before?.isKnown !== now.isKnown) return Math.min(lateness, Math.max(0, waited));

    const idled = now.idle - before.idle;
    const lateWait = Math.min(
      lateness,
      Math.max(0, waited, idled - Math.max(0, due - before.at) || 0),
    );
    const { isKnown } = now;
    const waitedForCpu = isKnown ? now.waitedForCpu - before.waitedForCpu : 0;
    // libuv counts the time in which the thread has no CPU as waiting for events.
    const beforeDue = Math.max(0, due - before.at - (idled - lateWait)) || 0;
    const starvedInWait = Math.min(lateWait, Math.max(0, waitedForCpu - beforeDue));
    const inWait = isKnown
      ? lateWait - starvedInWait
      : Math.min(lateWait, this.#marked(suspendedWithin, due, at) || 0);
    const missing = at - before.at - idled - (now.ran - before.ran) - waitedForCpu;

    // By now the watchdog thread has noted what it was late to note.
    this.#recordInCode();
    const noLag = lateWait - starvedInWait;
    if (Math.max(waitedForCpu, missing || 0, inWait) < MIN_SUSPENSION_MILLIS) return noLag;
    this.#inCode = { from: before.at, until: at, missing, inWait };
    const waits = Math.min(now.slices - before.slices, now.preemptions - before.preemptions);
    this.#recordEach(waitedForCpu, waits, 'starved');
    this.#recordEach(inWait, 1, 'stopped');

    if (!(missing >= MIN_SUSPENSION_MILLIS)) return noLag;
    const late = this.#marked(maybeStoppedWithin, Math.max(before.at, due), at) - inWait;
    return noLag + Math.min(missing, Math.max(0, late) || 0);
  }

  /**
   * Between two times, the thread slept while other threads of the process lacked CPU. No reading
   * here tells that. What is asked about later may contain it.
   */
  addSlept(start: number, end: number, millis: number): void {
    const known = this.#slept.reduce((sum, each) => sum + (each.end > start ? each.millis : 0), 0);
    const more = millis - known;
    if (more < MIN_SUSPENSION_MILLIS) return;
    if (this.#slept.length === MAX_SLEPT) this.#slept.shift();
    this.#slept.push({ end, millis: more });
    this.#recordEach(more, 1, 'starved');
  }

  /** Records what has ended and is not recorded yet. */
  finish(): void {
    if (this.#latest !== undefined) this.sample(this.clock.now(), Number.NaN);
    this.#recordInCode();
  }

  #read(at: number): Reading {
    const { runDelay, preemptions } = this.sources;
    const isKnown = runDelay.sample(at);
    return {
      at,
      idle: this.clock.idle(),
      isKnown,
      ran: isKnown ? runDelay.schedstat.ran : this.clock.cpu(),
      waitedForCpu: runDelay.schedstat.waited,
      slices: runDelay.schedstat.slices,
      preemptions: isKnown ? preemptions() : Number.NaN,
    };
  }

  /** The sum is what was measured, the parts are its mean: the kernel counts and adds up. */
  #recordEach(millis: number, count: number, reason: SuspensionReason): void {
    const most = Math.min(MAX_RECORDS, Math.floor(millis / MIN_SUSPENSION_MILLIS));
    const parts = Math.min(most, Math.max(1, count) || 1);
    for (let i = 0; i < parts; i++) this.record(millis / parts, reason);
  }

  #recordInCode(): void {
    const inCode = this.#inCode;
    this.#inCode = undefined;
    if (inCode === undefined || !(inCode.missing >= MIN_SUSPENSION_MILLIS)) return;
    const { from, until, missing, inWait } = inCode;
    const stopped = Math.min(missing, this.#marked(stoppedWithin, from, until) - inWait);
    this.#recordEach(stopped, 1, 'stopped');
  }

  #marked(
    within: (memory: SharedMemory, start: number, end: number) => number,
    start: number,
    end: number,
  ): number {
    const memory = this.sources.memory();
    return memory === undefined ? 0 : within(memory, start, end);
  }
}
