import type { SampleOutcome } from '../../../src/core/sample/capture-session.ts';
import { captureTimes } from '../../../src/core/sample/capture-times.ts';
import { type CaptureReply, type OngoingReport, TAKEN } from '../../../src/core/sample/protocol.ts';
import { SharedMemory, Word } from '../../../src/core/sample/shared-memory.ts';
import { type WatchedThread, watchLoop } from '../../../src/core/sample/watchdog-loop.ts';

/**
 * The watchdog thread's loop on a fake clock, beside a main thread that is a list of what happens.
 */
export class FakeWatchdog {
  time = 0;
  readonly memory = new SharedMemory();
  /** When a stack sample was taken. */
  readonly captures: number[] = [];
  /** When it was answered with what a report needs. */
  readonly replies: number[] = [];
  readonly reports: OngoingReport[] = [];
  readonly sleeps: number[] = [];
  /** What the main thread answers; it takes no time. */
  answer: () => CaptureReply | undefined = () => undefined;
  /** How long the main thread takes to answer: a native call. */
  answerMillis = 0;
  /** What the kernel has counted of the main thread; undefined outside Linux. */
  cpuAt: (time: number) => Partial<WatchedThread['cpu']> | undefined = () => undefined;
  /** Whether the main thread is ready to run. */
  isReady = true;
  #plan: { at: number; action: () => void }[] = [];

  constructor(
    readonly threshold = 100,
    readonly unfinishedAfterMillis = 0,
  ) {}

  /** At `time`, the main thread does something. In order of time. */
  at(time: number, action: () => void): this {
    this.#plan.push({ at: time, action });
    return this;
  }

  /** As a word. */
  marked(): number {
    return Atomics.load(this.memory.words, Word.markedBusyPeriod);
  }

  busyFrom(time: number): this {
    return this.at(time, () => this.memory.openBusyPeriod(time));
  }

  /** Runs the loop until `end`. */
  async run(end: number): Promise<this> {
    this.at(end, () => Atomics.store(this.memory.words, Word.closing, 1));
    this.#plan.sort((a, b) => a.at - b.at);
    await watchLoop(
      { sleep: (millis) => this.#sleep(millis), sleepWhileIdle: () => this.#sleep(500) },
      this.#thread(),
    );
    return this;
  }

  #thread(): WatchedThread {
    return {
      options: {
        ...captureTimes(this.threshold, 20),
        threadFolder: undefined,
        unfinishedAfterMillis: this.unfinishedAfterMillis,
      },
      memory: this.memory,
      now: () => this.time,
      cpu: this.#cpu(),
      client: {
        isReached: true,
        capture: (start, isReportNear, onWaiting) => this.#capture(start, isReportNear, onWaiting),
      },
      reportOngoing: (report) => this.reports.push(report),
    };
  }

  #cpu(): WatchedThread['cpu'] {
    const dog = this;
    return {
      ran: Number.NaN,
      waited: Number.NaN,
      slices: 1,
      read() {
        const counted = dog.cpuAt(dog.time);
        Object.assign(this, counted);
        return counted !== undefined;
      },
      isReady: () => this.isReady,
    };
  }

  async #capture(
    busyPeriod: number,
    isReportNear: boolean,
    onWaiting: () => void,
  ): Promise<SampleOutcome> {
    const until = this.time + this.answerMillis;
    while (this.time < until) {
      this.#advance(10);
      onWaiting();
    }
    this.captures.push(this.time);
    if (isReportNear) this.replies.push(this.time);
    const isOver = Atomics.load(this.memory.words, Word.busyPeriod) !== busyPeriod;
    const reply = isReportNear ? this.answer() : TAKEN;
    return { reply: isOver ? undefined : reply, isOver };
  }

  #sleep(millis: number): void {
    this.sleeps.push(millis);
    this.#advance(Math.max(0.5, Math.min(500, millis)));
  }

  #advance(millis: number): void {
    const until = this.time + millis;
    while (this.#plan[0] !== undefined && this.#plan[0].at <= until) {
      const { at, action } = this.#plan.shift() as { at: number; action: () => void };
      this.time = at;
      action();
    }
    this.time = until;
  }
}
