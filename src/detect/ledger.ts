/**
 * The account of the event loop's time. It is told of
 * - a *tick*: once per iteration, between what ran before and after it;
 * - a *scope*: one call of the context manager's `with`;
 * - a *stack sample*, taken in the middle of what runs;
 * - a *callback*, from an outermost async_hooks `before` to its `after`, while hooks are armed.
 *
 * ```
 *        tick            wait                                     tick
 *  ──────┼──────────────┬─ ─ ─ ─ ─┬──────────────────────────────┼─────▶
 *        │ immediates,  │         │ I/O: callback   callback     │
 *        │ timers       │         │  ┌─scope─┐ drain             │
 *  busyPeriodStart      idle time grows
 *                                 busySince            ▲
 *                                                      stack sample: hooks are armed
 * ```
 *
 * Without hooks, a busy period is the time from tick to tick, without the loop's wait, and is one
 * task of which no callback is known. With hooks, it is the time of one iteration, and its tasks
 * are known: a *task* is a callback and what drained after it (nextTicks, microtasks).
 *
 * When a scope, callback, task or busy period ends and has lasted at least the threshold, the parts
 * of it that are not yet reported are: each millisecond once, and by the innermost that reaches the
 * threshold.
 *
 * A runtime that does not count what its loop waits has no ticks either: there a beat of the lag
 * timer is the boundary, and the time until it was due may have been a wait.
 */
import { type Context, type Span, trace } from '@opentelemetry/api';
import type { OngoingBlock, OngoingPileUp, PileUpShare, StackSample } from '../block.ts';
import { SharedMemory, wordOf } from '../sample/shared-memory.ts';
import type { Clock } from '../support/clock.ts';
import type { BlockKind } from '../types.ts';
import { BlockMaker, type Known, MIN_LOST_WAIT_MILLIS, type OnBlock } from './block-maker.ts';
import {
  CALLBACK,
  type CallbackClass,
  MESSAGE,
  OWN,
  REACTION,
  RESOURCE_SCOPE,
  TICK,
  UNKNOWN,
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
import { ParserMessages } from './parser-messages.ts';
import { RunningTask } from './running-task.ts';
import type { Surroundings } from './surroundings.ts';

/** Types of async resources that run in the drain after a callback. */
const DRAINED = new Set(['PROMISE', 'TickObject']);

export interface LedgerTimes {
  readonly thresholdMillis: number;
  /** How far apart the beats of the lag timer are. */
  readonly beatMillis: number;
}

export class Ledger {
  readonly stack = new CallbackStack();
  // Each number is always a double or always a small integer: V8 updates them in place.
  /** The latest `before` of an outermost callback. */
  callbackStart = Number.NaN;
  #class: CallbackClass = CALLBACK;
  #callbacks = 0;
  /** When `before` or `after` read the clock last. */
  #lastRead = Number.NaN;
  #votedBefore = 0.5;
  #isHooked = false;
  #isWatched = false;
  /** When hooks were armed last: what ran before is no callback's for sure. */
  #armedAt = Number.NEGATIVE_INFINITY;
  /** The latest beat of the lag timer. */
  #beatAt = Number.NaN;
  readonly iterations: IterationClock;
  readonly task = new RunningTask();
  readonly #threshold: number;
  readonly #beatMillis: number;
  readonly #blocks: BlockMaker;
  readonly #attribution: BlockMaker['attribution'];
  readonly #messages = new ParserMessages();

  constructor(
    { thresholdMillis, beatMillis }: LedgerTimes,
    private readonly clock: Clock,
    private readonly around: Surroundings,
    onBlock: OnBlock,
    private readonly memory = new SharedMemory(),
  ) {
    this.#threshold = thresholdMillis;
    this.#beatMillis = beatMillis;
    this.iterations = new IterationClock(clock, memory);
    this.#blocks = new BlockMaker(thresholdMillis, clock, around, onBlock, memory);
    this.#blocks.iterations = this.iterations;
    this.#attribution = this.#blocks.attribution;
  }

  /** Milliseconds that scopes and callbacks have voted for so far. */
  get voted(): number {
    return this.#attribution.voted;
  }

  /**
   * Hot: once per iteration, in a callback of its own. With hooks, its `before` has done this.
   * 350 to 400 ns with the immediate, half of it reads of clock and idle time (Node.js 20 and 24,
   * `npm run bench -- hooks`, the lone callback).
   */
  tick(): void {
    if (this.#isHooked) return;
    const t = this.clock.now();
    if (this.iterations.isCounting) this.#cut(t);
    else this.#start(t);
  }

  /**
   * Hooks are armed, in the middle of what runs.
   * @param isInCallback whether that is a callback, whose `after` will come; of a promise reaction
   *   without a promise hook, none comes
   * @param isPrompt whether this is a stack sample that was answered at once: no native call was
   *   running, which may wait without using CPU
   */
  arm(isInCallback: boolean, isPrompt = false): void {
    if (this.#isHooked) return;
    this.#isHooked = true;
    this.stack.resync(0);
    if (!this.iterations.isCounting) return;
    const t = this.clock.now();
    const since = isPrompt ? this.#busySinceLostWait(t) : this.#busySince();
    this.iterations.arm(since);
    this.#blocks.cpu.waitedUntil(since);
    this.task.start = since;
    this.callbackStart = since;
    this.#class = isInCallback ? UNKNOWN : REACTION;
    if (isInCallback) this.stack.enter();
    this.#callbacks = 1;
    this.#armedAt = t;
    this.#lastRead = t;
  }

  /** Hooks are switched off, in a tick. */
  disarm(): void {
    if (!this.#isHooked) return;
    if (this.iterations.isCounting) this.#closeNow(this.clock.now());
    this.stack.resync(0);
    this.#class = CALLBACK;
    this.#isHooked = false;
  }

  /** Whether the hooks were armed in the running callback: its end is {@link afterUnknown}. */
  get isUnknown(): boolean {
    return this.#class === UNKNOWN;
  }

  /**
   * The end of a callback in which the hooks were armed. Others may be around it, whose ends come
   * here too, until the next callback begins.
   */
  afterUnknown(callbackClass: CallbackClass): void {
    if (callbackClass === RESOURCE_SCOPE) {
      this.#lastRead = this.clock.now();
      this.#scopeOfResource(this.callbackStart, this.#votedBefore);
      return;
    }
    if (callbackClass === CALLBACK || callbackClass === MESSAGE) this.#class = callbackClass;
    this.after();
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
    const t = this.clock.now();
    this.callbackStart = t;
    if (callbackClass === RESOURCE_SCOPE) return;
    if (callbackClass !== TICK) this.#beginTask(t, previous, asyncId);
    if (callbackClass !== OWN) this.#callbacks++;
    this.#lastRead = this.callbackStart;
  }

  /** Hot. The end of an outermost callback. */
  after(): void {
    const t = this.clock.now();
    this.#lastRead = t;
    const isTimed = this.#class !== REACTION && this.#class !== UNKNOWN && this.#class !== OWN;
    const isLong = t - this.callbackStart >= this.#threshold && isTimed;
    if (!isLong && !(t >= this.#attribution.callbacksVoteFrom)) return;
    if (this.#class === OWN) return;
    const running = this.stack.running(this.around);
    if (isLong) {
      const isWhole = this.#attribution.voted === this.#votedBefore;
      const known = { attributed: running, isCallback: true, isWhole };
      const start = this.#notBeforeAWait(this.callbackStart);
      const own = this.#class === RESOURCE_SCOPE ? 0 : 1;
      if (this.#report('callback', start, t, this.#callbacks - own, known)) return;
    }
    if (this.#blocks.isOwnWork) return;
    const start = Math.max(this.callbackStart, this.#armedAt);
    this.#attribution.voteCallback(start, t, this.#votedBefore, running);
  }

  /** The beginning of a callback inside another one: `AsyncResource.runInAsyncScope`. */
  beforeNested(): void {
    this.stack.begin(this.clock.now(), this.#attribution.voted);
  }

  /** The end of a callback inside `depth` others: its own context makes it as good as a scope. */
  afterNested(depth: number): void {
    if (depth >= MAX_NESTED) return;
    const start = this.stack.startOf(depth + 1);
    const t = this.clock.now();
    if (!(t - start >= this.#threshold || this.#attribution.isVote(start, t))) return;
    this.#scopeOfResource(start, this.stack.votedBefore(depth + 1));
  }

  /**
   * Hot. The end of a context scope that began at `start`, when {@link voted} was `votedBefore`.
   */
  scope(context: Context, start: number, votedBefore: number, isResource = false): void {
    if (!this.#isHooked && this.#isSurelyShort()) {
      this.task.untimedScope = context;
      return;
    }
    const t = this.clock.now();
    const isLong = t - start >= this.#threshold;
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

  /** The watchdog thread marks busy periods that have grown old, or does not. */
  watch(isWatched: boolean): void {
    this.#isWatched = isWatched;
  }

  /** A stack sample, taken in the middle of what runs. */
  add(sample: StackSample): void {
    this.#blocks.add(sample);
  }

  /** Whether the busy period that began at `busyPeriodStart` is the latest that is known. */
  isLatest(busyPeriodStart: number): boolean {
    const latest = wordOf(this.iterations.busyPeriodStart);
    return this.iterations.isCounting && latest === wordOf(busyPeriodStart);
  }

  /**
   * Whether the loop may be waiting for events now. With hooks, that is after a wait that no
   * callback has followed: Node.js runs some code with no callback around it (`Atomics.waitAsync`,
   * and with it `import()` if modules are hooked from a thread of their own).
   */
  mayWait(): boolean {
    return !(this.iterations.waitedSoFar() < ITERATION_GRAIN_MILLIS);
  }

  /** As {@link IterationClock.wasWaitingAt}. */
  wasWaitingAt(time: number): boolean | undefined {
    return this.iterations.wasWaitingAt(time, this.#isHooked);
  }

  /** In the middle of a block: what is known of it so far. */
  ongoing(): OngoingBlock {
    const t = this.clock.now();
    const resourceType = this.around.resourceType();
    const isDrain = resourceType !== undefined && DRAINED.has(resourceType);
    const [kind, start, callbacksBefore] = this.#longSince(t - this.#threshold, isDrain);
    const from = Math.max(this.#notBeforeAWait(start), this.#blocks.reported.end);
    return {
      kind,
      start: from,
      callbacks: Math.max(1, this.#callbacks - callbacksBefore),
      cpu: this.#blocks.cpu.between(from, t),
      resourceType,
    };
  }

  /**
   * What piled up before the running callback, where it reached the threshold and is not reported.
   * Hot: asked for each span that ends. What the span ran is enough, unless it may have made the
   * pile-up; all of it is the same object as long as what is known of it is the same.
   */
  ongoingPileUp(span?: Span): OngoingPileUp | PileUpShare | undefined {
    return this.#blocks.pileUp(this.iterations.busySince, this.task.start, span);
  }

  /** Runs reporting of this package. Blocks inside it are its own: they count in metrics only. */
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

  /**
   * A beat of the lag timer, in which nothing else runs: a torn async stack is mended here. Returns
   * when its callback began.
   */
  beat(): number {
    if (!this.#isHooked) return this.clock.now();
    if (this.stack.resync(1)) this.before(CALLBACK);
    return this.callbackStart > 0 ? this.callbackStart : this.clock.now();
  }

  /**
   * In a beat that was due at `due` and began at `beganAt`: how long the loop surely waited for
   * events in between. NaN for `due`: there was no beat before this one.
   */
  waitedSince(due: number, beganAt: number): number {
    this.#beatAt = beganAt;
    if (!this.#countsWaits) this.#cutWithoutWaits(due, beganAt);
    return this.iterations.waitedAfter(due);
  }

  /**
   * The loop has run out of work, or waits for it, or the SDK shuts down: closes what no further
   * callback would close in time.
   */
  finish(): void {
    if (!this.iterations.isCounting) return;
    const t = this.clock.now();
    if (!this.#countsWaits) {
      // The beat that is overdue may not come any more.
      const due = this.iterations.busyPeriodStart + this.#beatMillis;
      if (t > due) this.#cutWithoutWaits(due, t);
    } else if (this.#isHooked) {
      if (this.stack.depth > 0) {
        // It is called in a callback.
        if (this.isUnknown) this.#class = CALLBACK;
        this.after();
      }
      this.#closeNow(t);
    } else this.#cut(t);
  }

  /**
   * Inside what runs, the thread has waited for work as the loop does, until now. What ran before
   * was closed by {@link finish}.
   */
  endWait(): void {
    if (!this.iterations.isCounting) return;
    this.#lastRead = this.clock.now();
    this.callbackStart = this.#lastRead;
    this.iterations.end();
    this.#open(this.#lastRead);
  }

  /** Forgets everything, as before the first callback. */
  reset(): void {
    this.stack.resync(0);
    this.#isHooked = false;
    this.task.begin(Number.NaN, 0);
    this.callbackStart = Number.NaN;
    this.#lastRead = Number.NaN;
    this.#armedAt = Number.NEGATIVE_INFINITY;
    this.#beatAt = Number.NaN;
    this.iterations.reset();
    this.#blocks.reset();
  }

  get #countsWaits(): boolean {
    return !Number.isNaN(this.clock.idle());
  }

  /**
   * Hot. Saves clock reads: what the watchdog thread did not mark as old cannot have been long, if
   * that thread had a CPU.
   */
  #isSurelyShort(): boolean {
    return this.#isWatched && !this.memory.isMarked();
  }

  /** The first boundary: startup is over. */
  #start(t: number): void {
    this.iterations.end();
    this.#open(t);
  }

  /** Without a span of its own, an async resource is a part of what is around it. */
  #scopeOfResource(start: number, votedBefore: number): void {
    const { context } = this.stack.running(this.around);
    if (trace.getSpan(context) !== undefined) this.scope(context, start, votedBefore, true);
  }

  /** A boundary without hooks. The loop has waited since the last one, soon after it. */
  #cut(t: number): void {
    const { busyPeriodStart } = this.iterations;
    const waited = this.iterations.cut(t, this.clock.idle());
    const busySince = busyPeriodStart + waited;
    if (t - busySince >= MIN_LOST_WAIT_MILLIS) {
      const lost = this.#lostWait(busySince, t);
      if (lost > 0) this.iterations.addLostWait(lost);
      const start = this.#blocks.reported.skip(busyPeriodStart, waited + lost);
      this.#closeWithoutHooks(start, t);
    }
    this.#open(t);
  }

  /**
   * How much longer than counted the loop waited. It did not if a stack sample showed code, nor
   * while a beat was overdue.
   */
  #lostWait(busySince: number, t: number): number {
    const overdue = t - (this.#beatAt + this.#beatMillis);
    const isCodeSeen = this.#attribution.codeSeenAt > this.iterations.busyPeriodStart;
    if (isCodeSeen || overdue >= this.#beatMillis) return 0;
    return this.#blocks.lostWait(busySince, overdue > 0 ? t - overdue : t);
  }

  /** As {@link #cut}, if waits are not counted: the loop may have waited until the beat was due. */
  #cutWithoutWaits(due: number, t: number): void {
    const { isCounting, busyPeriodStart } = this.iterations;
    if (isCounting) {
      this.#closeWithoutHooks(Math.max(due, busyPeriodStart + this.#beatMillis), t);
    }
    this.#open(t);
    // No block can have happened before the next beat is due: until then, votes would only cost.
    this.#attribution.scopesVoteFrom = t + this.#beatMillis;
  }

  #closeWithoutHooks(start: number, end: number): void {
    if (!(end - start >= this.#threshold)) return;
    this.#blocks.cpu.waitedUntil(start);
    if (this.#isSurelyShort()) this.#voteForUntimedScope(start, end);
    this.#report(undefined, start, end, 0);
  }

  /** The watchdog thread had no CPU. The latest scope that ended votes with all of the time. */
  #voteForUntimedScope(start: number, end: number): void {
    const { untimedScope: context } = this.task;
    if (context === undefined || this.#blocks.reported.end > start) return;
    const by = { context, resourceType: undefined };
    this.#attribution.voteScope(start, end, this.#attribution.voted, by);
  }

  /** With hooks. The busy period ends here, maybe in the middle of a callback. */
  #closeNow(t: number): void {
    this.#close(t, this.iterations.end());
    this.#open(t);
  }

  /** A task begins at `t`, unless its callback goes on with the message of the one before. */
  #beginTask(t: number, previous: CallbackClass, asyncId: number): void {
    const { made } = this.#blocks;
    const wasLong = t - this.task.start >= this.#threshold;
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
        this.task.begin(t, 0);
        break;
    }
    const isLong = t - this.task.start >= this.#threshold;
    const before = this.#callbacks > 0 ? previous : undefined;
    if (this.#class === MESSAGE && this.#messages.continues(before, asyncId) && !isLong) return;
    if (isLong) this.#reportTask(t);
    this.#votedBefore = this.#attribution.voted;
    this.callbackStart = this.#afterOwnWork(t, made);
    this.task.begin(this.callbackStart, this.#callbacks);
  }

  /** Making a block takes some milliseconds the first time: no part of the callback that begins. */
  #afterOwnWork(t: number, madeBefore: number): number {
    return this.#blocks.made === madeBefore ? t : this.clock.now();
  }

  #open(t: number): void {
    this.iterations.open(t);
    this.#blocks.open(t, this.iterations.idleAtStart);
    this.#callbacks = 0;
    this.#votedBefore = this.#attribution.voted;
    this.task.begin(t, 0);
  }

  /** With hooks. The busy period has ended: the loop has waited, for `counted` ms or longer. */
  #close(t: number, counted: number): void {
    const { reported } = this.#blocks;
    const { busySince } = this.iterations;
    const lost = this.#blocks.lostWait(this.#lastRead, t - counted);
    if (lost > 0) this.iterations.addLostWait(lost);
    const waited = counted + lost;
    const isLong = t - waited - busySince >= this.#threshold;
    const seenAt = isLong ? this.#attribution.codeSeenAt : Number.NEGATIVE_INFINITY;
    const end = Math.max(this.#lastRead, reported.end, seenAt, t - waited);
    // Node.js runs some reactions and ticks without a callback around them (`Atomics.waitAsync`).
    // After a wait, only stack samples say where: the wait is taken off the beginning.
    const start = reported.skip(busySince, Math.max(0, waited - (t - end)));
    if (start > this.task.start) {
      this.task.start = start;
      this.#blocks.cpu.waitedUntil(start);
    }
    if (end - this.task.start >= this.#threshold) this.#reportTask(end);
    if (end - start >= this.#threshold) this.#report('pile-up', start, end, 0);
  }

  /** The task ended at `end`: what is left of it drained after its callback. */
  #reportTask(end: number): void {
    this.#report('microtasks', this.task.start, end, this.task.firstCallback);
  }

  /**
   * The innermost part that has run since `time`: its kind, start and the callbacks before it.
   * @param isDrain whether what runs is known to have been made by JavaScript
   */
  #longSince(
    time: number,
    isDrain: boolean,
  ): [kind: BlockKind | undefined, start: number, callbacksBefore: number] {
    if (!this.#isHooked) return [undefined, this.iterations.busySince, 0];
    const start = this.callbackStart;
    const isReaction = this.#class === REACTION || (this.isUnknown && isDrain);
    const isTimed = !isReaction && start <= time;
    if (isTimed && this.stack.depth > 0) return ['callback', start, this.#callbacks - 1];
    if (this.task.start <= time) return ['microtasks', this.task.start, this.task.firstCallback];
    return ['pile-up', this.iterations.busySince, 0];
  }

  /** When what runs has begun, without hooks: after the wait since the boundary. */
  #busySince(): number {
    const { busyPeriodStart } = this.iterations;
    return this.#blocks.reported.skip(busyPeriodStart, this.iterations.waitedSoFar() || 0);
  }

  /**
   * As {@link #busySince}, also if a signal interrupted the wait: at the latest when the beat was
   * due, it was over.
   */
  #busySinceLostWait(t: number): number {
    const { busyPeriodStart } = this.iterations;
    const busySince = this.#busySince();
    const untilDue = this.#beatAt + this.#beatMillis - busySince;
    if (!(untilDue > 0)) return busySince;
    const lost = Math.min(untilDue, this.#blocks.lostWaitSince(busySince, t));
    this.clock.addLostWait(lost);
    return this.#blocks.reported.skip(busyPeriodStart, busySince - busyPeriodStart + lost);
  }

  /**
   * A part that began at `start` contains no wait. With a start from before one, its callback's end
   * was lost, or it is what has run since a tick.
   */
  #notBeforeAWait(start: number): number {
    const waited = this.iterations.waitedSoFar() || 0;
    return Math.max(start, this.#blocks.reported.skip(this.iterations.busySince, waited));
  }

  #report(
    kind: BlockKind | undefined,
    start: number,
    end: number,
    before: number,
    known?: Known,
  ): boolean {
    if (!this.iterations.isCounting) return true;
    const from = Math.max(start, this.iterations.busySince);
    return this.#blocks.make(kind, from, end, before, this.#callbacks, known);
  }
}
