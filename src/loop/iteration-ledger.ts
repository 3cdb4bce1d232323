/**
 * The account of the event loop's time, from async hooks. Inside an iteration it knows
 * - a *callback*: from an outermost async_hooks `before` to its `after`;
 * - a *task*: a callback and what drained after it (nextTicks, microtasks), until the next one;
 * - a *scope*: one call of the context manager's `with`;
 * - a *busy period*: the time of one iteration without its wait for events.
 * When one of them ends and has lasted at least the threshold, the parts of it that are not yet
 * reported are: each millisecond once, and by the innermost that reaches the threshold.
 */
import { type Context, type Span, trace } from '@opentelemetry/api';
import type { OngoingBlock, OngoingPileUp, PileUpShare, StackSample } from '../block.ts';
import type { Clock } from '../support/clock.ts';
import type { BlockKind } from '../types.ts';
import { createSharedMemory } from '../watchdog/shared-memory.ts';
import { BlockMaker, type Known, type OnBlock } from './block-maker.ts';
import {
  CALLBACK,
  type CallbackClass,
  MESSAGE,
  REACTION,
  RESOURCE_SCOPE,
  TICK,
  UNTIMED_TICK,
} from './callback-class.ts';
import { CallbackStack, MAX_NESTED } from './callback-stack.ts';
import {
  FIRST,
  ITERATION_GRAIN_MILLIS,
  IterationClock,
  NEXT,
  RESTART,
  SAME,
} from './iteration-clock.ts';
import type { Ledger } from './ledger.ts';
import { ParserMessages } from './parser-messages.ts';
import { RunningTask } from './running-task.ts';
import type { Surroundings } from './surroundings.ts';

export class IterationLedger implements Ledger {
  readonly stack = new CallbackStack();
  // Each number is always a double or always a small integer: V8 updates them in place.
  /** The latest `before` of an outermost callback. */
  callbackStart = Number.NaN;
  #class: CallbackClass = CALLBACK;
  #callbacks = 0;
  /** When `before` or `after` read the clock last. */
  #lastRead = Number.NaN;
  #votedBefore = 0.5;
  readonly iterations: IterationClock;
  readonly task: RunningTask;
  readonly #blocks: BlockMaker;
  readonly #attribution: BlockMaker['attribution'];
  readonly #messages = new ParserMessages();

  constructor(
    private readonly threshold: number,
    private readonly clock: Clock,
    private readonly around: Surroundings,
    onBlock: OnBlock,
    marks: Float64Array = createSharedMemory().marks,
  ) {
    this.iterations = new IterationClock(clock, marks);
    this.#blocks = new BlockMaker(threshold, clock, around, onBlock, marks);
    this.#blocks.iterations = this.iterations;
    this.#attribution = this.#blocks.attribution;
    this.task = new RunningTask(this.iterations, this.#blocks);
  }

  get voted(): number {
    return this.#attribution.voted;
  }

  /** Hot. The beginning of an outermost callback. `asyncId` is asked for a {@link MESSAGE} only. */
  before(callbackClass: CallbackClass, asyncId = 0): void {
    const previous = this.#class;
    this.#class = callbackClass;
    this.#votedBefore = this.#attribution.voted;
    if (callbackClass === REACTION) {
      // No clock is read: its start is not needed, `after` votes with the time since the last read.
      this.callbackStart = this.#lastRead;
      return;
    }
    if (callbackClass === TICK && this.iterations.isSurelyShort()) {
      // Nor here: what begins before the watchdog marked the busy period is timed with its task.
      this.#class = UNTIMED_TICK;
      this.callbackStart = this.task.start;
      this.#callbacks++;
      return;
    }
    const t = this.clock.now();
    this.callbackStart = t;
    if (callbackClass === RESOURCE_SCOPE) return;
    // Saves 20 ns: too early for a vote or a block.
    const isEarly = callbackClass === CALLBACK && this.iterations.hasJustBegun(t);
    if (isEarly && this.task.isTimed()) this.task.begin(t, this.#callbacks, this.#votedBefore);
    else if (callbackClass !== TICK) this.#beginTask(t, previous, asyncId);
    this.#callbacks++;
    this.#lastRead = this.callbackStart;
  }

  /** Hot. The end of an outermost callback. */
  after(): void {
    if (this.iterations.isSurelyShort()) return;
    const t = this.clock.now();
    this.#lastRead = t;
    const isLong = t - this.callbackStart >= this.threshold && this.#class !== REACTION;
    if (!isLong && !(t >= this.#attribution.callbacksVoteFrom)) return;
    const running = this.stack.running(this.around);
    if (isLong) {
      const isWhole = this.#attribution.voted === this.#votedBefore;
      const known = { attributed: running, isCallback: true, isWhole };
      const start = this.#notBeforeAWait(this.callbackStart);
      const isTick = this.#class === UNTIMED_TICK;
      const own = this.#class === RESOURCE_SCOPE ? 0 : 1;
      const before = isTick ? this.task.firstCallback : this.#callbacks - own;
      if (this.#report(isTick ? 'microtasks' : 'callback', start, t, before, known)) return;
    }
    if (this.#blocks.isOwnWork) return;
    this.#attribution.voteCallback(this.callbackStart, t, this.#votedBefore, running);
  }

  /** The beginning of a callback inside another one: `AsyncResource.runInAsyncScope`. */
  beforeNested(): void {
    this.stack.begin(this.clock.now(), this.#attribution.voted);
  }

  /** The end of a callback inside `depth` others: its own context makes it as good as a scope. */
  afterNested(depth: number): void {
    if (depth >= MAX_NESTED || this.iterations.isSurelyShort()) return;
    const start = this.stack.startOf(depth + 1);
    const t = this.clock.now();
    if (!(t - start >= this.threshold || this.#attribution.isVote(start, t))) return;
    const { context } = this.stack.running(this.around);
    // Without a span of its own it is a part of what is around it.
    if (trace.getSpan(context) === undefined) return;
    this.scope(context, start, this.stack.votedBefore(depth + 1), true);
  }

  scope(context: Context, start: number, votedBefore: number, isResource = false): void {
    if (this.iterations.isSurelyShort()) {
      this.task.untimedScope = context;
      return;
    }
    const t = this.clock.now();
    const isLong = t - start >= this.threshold;
    if (!isLong && !this.#attribution.isVote(start, t)) return;
    const attributed = { context, resourceType: this.around.resourceType() };
    if (isLong) {
      if (!isResource && this.#class !== REACTION && this.stack.isInItsSpan(context, this.around))
        return;
      const isWhole = this.#attribution.voted === votedBefore;
      const from = this.#notBeforeAWait(start);
      if (this.#report('callback', from, t, this.#callbacks - 1, { attributed, isWhole })) return;
    }
    if (!this.#blocks.isOwnWork) this.#attribution.voteScope(start, t, votedBefore, attributed);
  }

  relax(relaxed: boolean): void {
    this.iterations.relax(relaxed);
  }

  add(sample: StackSample): void {
    this.#blocks.add(sample);
  }

  isLatest(busyPeriodStart: number): boolean {
    return this.iterations.isCounting && this.iterations.busyPeriodStart === busyPeriodStart;
  }

  hasWaited(): boolean {
    return this.iterations.waitedSoFar() >= ITERATION_GRAIN_MILLIS;
  }

  ongoing(): OngoingBlock {
    const t = this.clock.now();
    const [kind, start, callbacksBefore] = this.#longSince(t - this.threshold);
    return {
      kind,
      start: Math.max(this.#notBeforeAWait(start), this.#blocks.reported.end),
      callbacks: Math.max(1, this.#callbacks - callbacksBefore),
      cpu: this.#blocks.cpu.between(start, t),
      resourceType: this.around.resourceType(),
    };
  }

  ongoingPileUp(span?: Span): OngoingPileUp | PileUpShare | undefined {
    return this.#blocks.pileUp(this.iterations.busyPeriodStart, this.task.start, span);
  }

  asOwnWork(work: () => void): void {
    const scope = this.task.untimedScope;
    try {
      this.#blocks.asOwnWork(work, (start, end) =>
        this.#report('callback', start, end, this.#callbacks - 1),
      );
    } finally {
      this.task.untimedScope = scope;
    }
  }

  /** Nothing else runs in a beat: a torn async stack is mended here. */
  beat(): number {
    if (this.stack.resync(1)) this.before(CALLBACK);
    return this.callbackStart > 0 ? this.callbackStart : this.clock.now();
  }

  waitedSince(due: number, beganAt: number): number {
    return this.iterations.waitedBefore(beganAt, due);
  }

  finish(): void {
    if (!this.iterations.isCounting) return;
    if (this.stack.depth > 0) this.after(); // it is called in a callback
    const t = this.clock.now();
    this.#close(t, this.iterations.end());
    this.#open(t);
  }

  endWait(): void {
    this.#lastRead = this.clock.now();
    this.callbackStart = this.#lastRead;
    this.#open(this.#lastRead);
  }

  reset(): void {
    this.stack.resync(0);
    this.task.begin(Number.NaN, 0, this.#attribution.voted);
    this.callbackStart = Number.NaN;
    this.#lastRead = Number.NaN;
    this.iterations.reset();
    this.#blocks.reset();
  }

  /** A task begins at `t`, unless its callback goes on with the message of the one before. */
  #beginTask(t: number, previous: CallbackClass, asyncId: number): void {
    const { made } = this.#blocks;
    const wasLong = t - this.task.start >= this.threshold;
    switch (this.iterations.advance(t, this.#lastRead, wasLong)) {
      case SAME:
        this.#blocks.cpu.sample(t);
        break;
      case NEXT:
        this.#close(t, this.iterations.waited);
        this.#open(this.#afterOwnWork(t, made));
        break;
      case FIRST:
        this.#open(t);
        break;
      case RESTART:
        this.#callbacks = 0;
        this.task.begin(t, 0, this.#attribution.voted);
        break;
    }
    const isLong = t - this.task.start >= this.threshold;
    const before = this.#callbacks > 0 ? previous : undefined;
    if (this.#class === MESSAGE && this.#messages.continues(before, asyncId) && !isLong) return;
    this.task.vote(t);
    if (isLong) this.#reportTask(t);
    this.#votedBefore = this.#attribution.voted;
    this.callbackStart = this.#afterOwnWork(t, made);
    this.task.begin(this.callbackStart, this.#callbacks, this.#votedBefore);
  }

  /** Making a block takes some milliseconds the first time: no part of the callback that begins. */
  #afterOwnWork(t: number, madeBefore: number): number {
    return this.#blocks.made === madeBefore ? t : this.clock.now();
  }

  #open(t: number): void {
    this.iterations.open(t);
    this.#blocks.open(t, this.iterations.idleAtStart);
    this.#callbacks = 0;
    this.task.begin(t, 0, this.#attribution.voted);
  }

  /** The busy period has ended: the loop has waited, for `counted` milliseconds or longer. */
  #close(t: number, counted: number): void {
    const { reported } = this.#blocks;
    const waited = counted + this.#blocks.lostWait(this.#lastRead, t - counted);
    const isLong = t - waited - this.iterations.busyPeriodStart >= this.threshold;
    const seenAt = isLong ? this.#attribution.codeSeenAt : Number.NEGATIVE_INFINITY;
    const end = Math.max(this.#lastRead, reported.end, seenAt, t - waited);
    // Node.js runs some reactions and ticks without a callback around them (`Atomics.waitAsync`).
    // After a wait, only stack samples say where: the wait is taken off the beginning.
    const start = reported.skip(this.iterations.busyPeriodStart, Math.max(0, waited - (t - end)));
    if (start > this.task.start) {
      this.task.start = start;
      this.#blocks.cpu.waitedUntil(start);
    }
    this.task.vote(end);
    if (end - this.task.start >= this.threshold) this.#reportTask(end);
    if (end - start >= this.threshold) this.#report('pile-up', start, end, 0);
  }

  /** The task ended at `end`: what is left of it drained after its callback. */
  #reportTask(end: number): void {
    // Without a mark the callback's end was not timed: alone, it is taken to have been the task.
    const isAlone = this.#callbacks - this.task.firstCallback === 1;
    const kind = this.iterations.isSurelyShort() && isAlone ? 'callback' : 'microtasks';
    this.#report(kind, this.task.start, end, this.task.firstCallback);
  }

  /** The innermost part that has run since `time`: its kind, start and the callbacks before it. */
  #longSince(time: number): [kind: BlockKind, start: number, callbacksBefore: number] {
    const start = this.callbackStart;
    const isTimed = this.#class !== REACTION && this.#class !== UNTIMED_TICK && start <= time;
    if (isTimed && this.stack.depth > 0) return ['callback', start, this.#callbacks - 1];
    if (this.task.start <= time) return ['microtasks', this.task.start, this.task.firstCallback];
    return ['pile-up', this.iterations.busyPeriodStart, 0];
  }

  /** No callback contains a wait: with a start from before one, the callback's end was lost. */
  #notBeforeAWait(start: number): number {
    const waited = this.iterations.waitedSoFar();
    return Math.max(start, this.#blocks.reported.skip(this.iterations.busyPeriodStart, waited));
  }

  #report(kind: BlockKind, start: number, end: number, before: number, known?: Known): boolean {
    if (!this.iterations.isCounting) return true;
    const from = Math.max(start, this.iterations.busyPeriodStart);
    return this.#blocks.make(kind, from, end, before, this.#callbacks, known);
  }
}
