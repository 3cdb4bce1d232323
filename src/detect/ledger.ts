/**
 * Accounts for the time of the event loop. The ledger is called for
 * - a *tick*: once per iteration, between what ran before and after it;
 * - a *scope*: one call of the context manager's `with`;
 * - a *stack sample*, taken in the middle of what runs;
 * - a *callback*, from an outermost async_hooks `before` to its `after`, while hooks are armed.
 *
 * `src/detect/README.md` has a drawing.
 *
 * Without hooks, a busy period is the time from tick to tick, without the loop's wait, and is one
 * task of which no callback is known. With hooks, it is the time of one iteration, and its tasks
 * are known: a *task* is a callback and what drained after it (nextTicks, microtasks).
 *
 * A scope, callback, task or busy period is examined when it ends. If it has lasted at least the
 * threshold, the parts of it that are not reported yet become blocks.
 *
 * A runtime that does not count what its loop waits has no ticks either: there a beat of the lag
 * timer is the boundary, and the time until it was due may have been a wait.
 *
 * Guarantees: each millisecond is reported at most once, in the innermost part that reaches the
 * threshold, and no wait for events is a part of a block.
 */
import { type Context, trace } from '@opentelemetry/api';
import type { OngoingBlock, OngoingPileUp, StackSample } from '../block.ts';
import { SharedMemory, wordOf } from '../sample/shared-memory.ts';
import type { Clock } from '../support/clock.ts';
import type { BlockKind } from '../types.ts';
import { typeNameOf } from './attribution/owner.ts';
import type { Attributed, Votes } from './attribution/votes.ts';
import { BlockMaker, MIN_LOST_WAIT_MILLIS, type OnBlock } from './block-maker.ts';
import {
  CALLBACK,
  type CallbackClass,
  CallbackStack,
  MAX_NESTED,
  MESSAGE,
  OWN,
  ParserMessages,
  REACTION,
  RESOURCE_SCOPE,
  TICK,
  UNKNOWN,
} from './callbacks.ts';
import { IterationClock } from './iteration-clock.ts';
import type { RunningCode } from './running-code.ts';

/** Types of async resources that run in the drain after a callback. */
const DRAINED = new Set(['PROMISE', 'TickObject']);

export interface LedgerTimes {
  readonly thresholdMillis: number;
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
  /** When hooks were armed last: it is not known which callbacks ran before. */
  #armedAt = Number.NEGATIVE_INFINITY;
  /** The latest beat of the lag timer. */
  #beatAt = Number.NaN;
  readonly iterations: IterationClock;
  /** When the running task began: a callback and what drains after it. */
  taskStart = Number.NaN;
  /** Callbacks of the busy period that had begun before the running task. */
  #callbacksBeforeTask = 0;
  readonly #threshold: number;
  readonly #beatMillis: number;
  readonly #blocks: BlockMaker;
  readonly #votes: Votes;
  readonly #messages = new ParserMessages();

  constructor(
    { thresholdMillis, beatMillis }: LedgerTimes,
    private readonly clock: Clock,
    private readonly code: RunningCode,
    onBlock: OnBlock,
    private readonly memory = new SharedMemory(),
  ) {
    this.#threshold = thresholdMillis;
    this.#beatMillis = beatMillis;
    this.iterations = new IterationClock(clock, memory);
    this.#blocks = new BlockMaker(thresholdMillis, clock, code, this.iterations, onBlock, memory);
    this.#votes = this.#blocks.attribution.votes;
  }

  /** Milliseconds that scopes and callbacks have voted for so far. */
  get voted(): number {
    return this.#votes.voted;
  }

  /**
   * Hot: once per iteration, in a callback of its own. With hooks, its `before` has done this.
   * 350 to 400 ns with the immediate, half of it reads of clock and idle time (Node.js 20 and 24).
   */
  tick(): void {
    // V8 may have ended code half-way, without its `finally` and its `after`.
    this.#blocks.isOwnWork = false;
    if (this.#isHooked) {
      this.#resync(OWN);
      return;
    }
    const t = this.clock.now();
    if (this.iterations.isCounting) this.#closeWithoutHooks(t);
    // At the first tick, startup is over.
    else this.iterations.end();
    this.#open(t);
  }

  /**
   * Hooks are armed, in the middle of what runs.
   * @param isInCallback whether that is a callback, whose `after` will come; of a promise reaction
   *   without a promise hook, none comes
   * @param isPrompt whether this is a stack sample that was answered at once: no native call was
   *   running, which may wait without using CPU
   * @param knownSince from when on what runs has run: when the stack sample was asked for
   */
  arm(isInCallback: boolean, isPrompt = false, knownSince = this.clock.now()): void {
    if (this.#isHooked) return;
    this.#isHooked = true;
    this.stack.resync(0);
    if (!this.iterations.isCounting) return;
    const t = this.clock.now();
    const since = isPrompt ? this.#busySinceLostWait(t) : this.#busySince();
    this.iterations.arm(since);
    this.#blocks.cpu.waitedUntil(since);
    this.taskStart = since;
    this.callbackStart = since;
    this.#class = isInCallback ? UNKNOWN : REACTION;
    if (isInCallback) this.stack.enter();
    this.#callbacks = 1;
    this.#armedAt = t;
    this.#blocks.attribution.knownSince = Math.max(since, knownSince);
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
    const isTimed = callbackClass === CALLBACK || callbackClass === MESSAGE;
    const { attribution } = this.#blocks;
    if (isTimed && !attribution.isMostlyUnknown(this.callbackStart, this.clock.now()))
      this.#class = callbackClass;
    this.after();
  }

  /** Hot. The beginning of an outermost callback. `asyncId` is asked for a {@link MESSAGE} only. */
  before(callbackClass: CallbackClass, asyncId = 0): void {
    const previous = this.#class;
    const t = this.clock.now();
    this.#class = callbackClass;
    this.#votedBefore = this.#votes.voted;
    this.callbackStart = t;
    if (callbackClass === REACTION || callbackClass === RESOURCE_SCOPE) return;
    if (callbackClass !== TICK) this.#beginTask(t, previous, asyncId);
    if (callbackClass !== OWN) this.#callbacks++;
    this.#lastRead = this.callbackStart;
  }

  /** Hot. The end of an outermost callback. */
  after(): void {
    const t = this.clock.now();
    const callbackClass = this.#class;
    this.#lastRead = t;
    if (callbackClass === OWN) return;
    const isTimed = callbackClass !== REACTION && callbackClass !== UNKNOWN;
    const isLong = isTimed && t - this.callbackStart >= this.#threshold;
    if (!isLong && !(t >= this.#votes.callbacksVoteFrom)) return;
    const running = this.stack.running(this.code);
    if (isLong) {
      const start = this.#notBeforeAWait(this.callbackStart);
      const own = callbackClass === RESOURCE_SCOPE ? 0 : 1;
      if (this.#report('callback', start, t, this.#callbacks - own, running)) return;
    }
    if (this.#blocks.isOwnWork) return;
    const start = Math.max(this.callbackStart, this.#armedAt);
    this.#votes.voteCallback(start, t, this.#votedBefore, running);
  }

  /** The beginning of a callback inside another one: `AsyncResource.runInAsyncScope`. */
  beforeNested(): void {
    this.stack.begin(this.clock.now(), this.#votes.voted);
  }

  /** The end of a callback inside `depth` others: its own context makes it as good as a scope. */
  afterNested(depth: number): void {
    if (depth >= MAX_NESTED) return;
    const start = this.stack.startOf(depth + 1);
    const t = this.clock.now();
    if (!(t - start >= this.#threshold || this.#votes.isVote(start, t))) return;
    this.#scopeOfResource(start, this.stack.votedBefore(depth + 1));
  }

  /**
   * Hot. The end of a context scope that began at `start`, when {@link voted} was `votedBefore`.
   */
  scope(context: Context, start: number, votedBefore: number, isResource = false): void {
    if (!this.#isHooked && this.isSurelyShort()) return;
    const t = this.clock.now();
    const isLong = t - start >= this.#threshold;
    if (!isLong && !this.#votes.isVote(start, t)) return;
    const attributed = { context, resourceType: this.code.resourceType() };
    if (isLong) {
      if (!isResource && this.#class !== REACTION && this.stack.isInItsSpan(context, this.code))
        return;
      const from = this.#notBeforeAWait(start);
      if (this.#report('callback', from, t, this.#callbacks - 1, attributed)) return;
    }
    if (!this.#blocks.isOwnWork) this.#votes.voteScope(start, t, votedBefore, attributed);
  }

  /**
   * Hot. Saves a read of the clock, 40 ns, at the end of each scope; a request has 13 of them.
   * What the watchdog thread has not marked as old cannot have been long, if that thread had a CPU.
   */
  isSurelyShort(): boolean {
    return this.#isWatched && !this.memory.isMarked();
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

  wasWaitingAt(time: number): boolean | undefined {
    return this.iterations.wasWaitingAt(time, this.#isHooked);
  }

  /** Describes the running block in the middle of it. */
  ongoing(): OngoingBlock {
    const t = this.clock.now();
    const resourceType = this.code.resourceType();
    const isDrain = resourceType !== undefined && DRAINED.has(resourceType);
    const [kind, start, callbacksBefore] = this.#longSince(t - this.#threshold, isDrain);
    const from = Math.max(this.#notBeforeAWait(start), this.#blocks.reported.end);
    return {
      kind,
      start: from,
      callbacks: Math.max(1, this.#callbacks - callbacksBefore),
      cpu: this.#blocks.cpu.between(from, t),
      resourceType: typeNameOf(resourceType),
    };
  }

  /** The context that what has run since `start` is attributed to. */
  ownerOf(by: Attributed, start: number): Context {
    return this.#blocks.attribution.owners()(by, start, this.clock.now());
  }

  /**
   * The pile-up before the running callback, if it reached the threshold and is not reported. Hot:
   * asked for each span that ends. The object is the same until more is known of it.
   */
  ongoingPileUp(): OngoingPileUp | undefined {
    return this.#blocks.pileUp(this.iterations.busySince, this.taskStart);
  }

  /** Runs reporting of this package. Blocks inside it are its own: they count in metrics only. */
  asOwnWork(work: () => void): void {
    this.#blocks.asOwnWork(work, (start, end) =>
      this.#report('callback', start, end, this.#callbacks - 1),
    );
  }

  /**
   * A beat of the lag timer, in which nothing else runs: the depth is set right, if a callback had
   * no `after` (that of an HTTP client's parser if a handler throws; Node.js 20 to 26), or waits in
   * a loop of its own. It is no callback of the application's. Returns when it began.
   */
  beat(): number {
    if (!this.#isHooked) return this.clock.now();
    this.#resync(CALLBACK);
    this.#callbacks--;
    return this.callbackStart > 0 ? this.callbackStart : this.clock.now();
  }

  /**
   * How long the loop surely waited for events from `due` to `beganAt`, when the beat began. `due`
   * is NaN if there was no beat before this one.
   */
  waitedSince(due: number, beganAt: number): number {
    this.#beatAt = beganAt;
    if (!this.#countsWaits) this.#nextPeriodByBeat(due, beganAt);
    return this.iterations.waitedAfter(due);
  }

  /**
   * Closes what no further callback would close in time: the loop has run out of work, or waits for
   * it, or the SDK shuts down.
   */
  finish(): void {
    if (!this.iterations.isCounting) return;
    const t = this.clock.now();
    if (!this.#countsWaits) {
      // The beat that is overdue may not come any more.
      const due = this.iterations.busyPeriodStart + this.#beatMillis;
      if (t > due) this.#nextPeriodByBeat(due, t);
    } else if (this.#isHooked) {
      if (this.stack.depth > 0) {
        // The caller is a callback itself.
        if (this.isUnknown) this.#class = CALLBACK;
        this.after();
      }
      this.#closeNow(t);
    } else {
      this.#closeWithoutHooks(t);
      this.#open(t);
    }
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

  reset(): void {
    this.stack.resync(0);
    this.#isHooked = false;
    this.#callbacks = 0;
    this.#beginTaskAt(Number.NaN);
    this.callbackStart = Number.NaN;
    this.#lastRead = Number.NaN;
    this.#armedAt = Number.NEGATIVE_INFINITY;
    this.#beatAt = Number.NaN;
    this.iterations.reset();
    this.#blocks.reset();
  }

  /** Sets the depth right: an outermost callback runs. */
  #resync(callbackClass: CallbackClass): void {
    if (this.stack.resync(1)) this.before(callbackClass);
  }

  get #countsWaits(): boolean {
    return !Number.isNaN(this.clock.idle());
  }

  /** An async resource without a span of its own is a part of the enclosing callback. */
  #scopeOfResource(start: number, votedBefore: number): void {
    const { context } = this.stack.running(this.code);
    if (trace.getSpan(context) !== undefined) this.scope(context, start, votedBefore, true);
  }

  /**
   * Ends a busy period at a tick, without hooks. The loop has waited soon after the tick before.
   */
  #closeWithoutHooks(t: number): void {
    const { busyPeriodStart } = this.iterations;
    const waited = this.iterations.tick(t, this.clock.idle());
    const busySince = busyPeriodStart + waited;
    if (!(t - busySince >= MIN_LOST_WAIT_MILLIS)) return;
    const lost = this.#lostWait(busySince, t);
    if (lost > 0) this.iterations.addLostWait(lost);
    this.#reportPeriod(this.#blocks.reported.skip(busyPeriodStart, waited + lost), t);
  }

  /**
   * How much longer than counted the loop waited. It did not if a stack sample showed code, nor
   * while a beat was overdue.
   */
  #lostWait(busySince: number, t: number): number {
    const overdue = t - (this.#beatAt + this.#beatMillis);
    const isCodeSeen =
      this.#blocks.attribution.samples.codeSeenAt > this.iterations.busyPeriodStart;
    if (isCodeSeen || overdue >= this.#beatMillis) return 0;
    return this.#blocks.lostWait(busySince, overdue > 0 ? t - overdue : t);
  }

  /**
   * If waits are not counted, a beat is the boundary: the loop may have waited until it was due.
   */
  #nextPeriodByBeat(due: number, t: number): void {
    const { isCounting, busyPeriodStart } = this.iterations;
    if (isCounting) this.#reportPeriod(Math.max(due, busyPeriodStart + this.#beatMillis), t);
    this.#open(t);
    // No block can have happened before the next beat is due: until then, votes would only cost.
    this.#votes.scopesVoteFrom = t + this.#beatMillis;
  }

  /** A busy period is one task if no hooks are on. */
  #reportPeriod(start: number, end: number): void {
    if (!(end - start >= this.#threshold)) return;
    this.#blocks.cpu.waitedUntil(start);
    this.#report(undefined, start, end, 0);
  }

  /** Ends a busy period with hooks, maybe in the middle of a callback. */
  #closeNow(t: number): void {
    this.#close(t, this.iterations.end());
    this.#open(t);
  }

  /** A callback begins at `t`, and with it a task, unless it goes on with the message before it. */
  #beginTask(t: number, previous: CallbackClass, asyncId: number): void {
    const { made } = this.#blocks;
    const { isCounting } = this.iterations;
    const isNext = this.iterations.advance(t);
    if (isNext && isCounting) this.#close(t, this.iterations.waited);
    if (!isNext) this.#blocks.cpu.sample(t);

    const isLong = !isNext && t - this.taskStart >= this.#threshold;
    const before = isNext || this.#callbacks === 0 ? undefined : previous;
    if (this.#class === MESSAGE && this.#messages.continues(before, asyncId) && !isLong) return;
    if (isLong) this.#reportTask(t);

    // Making a block takes some milliseconds the first time: no part of the callback that begins.
    const start = this.#blocks.made === made ? t : this.clock.now();
    this.callbackStart = start;
    this.#votedBefore = this.#votes.voted;
    if (isNext) this.#open(start);
    else this.#beginTaskAt(start);
  }

  #beginTaskAt(start: number): void {
    this.taskStart = start;
    this.#callbacksBeforeTask = this.#callbacks;
  }

  #open(t: number): void {
    this.iterations.open(t);
    this.#blocks.open(t, this.iterations.idleAtStart);
    this.#callbacks = 0;
    this.#votedBefore = this.#votes.voted;
    this.#beginTaskAt(t);
  }

  /** Ends a busy period with hooks after a wait of the loop, of `counted` ms or longer. */
  #close(t: number, counted: number): void {
    const { reported } = this.#blocks;
    const { busySince } = this.iterations;
    const lost = this.#blocks.lostWait(this.#lastRead, t - counted);
    if (lost > 0) this.iterations.addLostWait(lost);
    const waited = counted + lost;
    const isLong = t - waited - busySince >= this.#threshold;
    const seenAt = isLong ? this.#blocks.attribution.samples.codeSeenAt : Number.NEGATIVE_INFINITY;
    const end = Math.max(this.#lastRead, reported.end, seenAt, t - waited);
    // Node.js runs some reactions and ticks without a callback around them (`Atomics.waitAsync`).
    // After a wait, only stack samples show when they ran: the wait is subtracted at the beginning.
    const start = reported.skip(busySince, Math.max(0, waited - (t - end)));
    if (start > this.taskStart) {
      this.taskStart = start;
      this.#blocks.cpu.waitedUntil(start);
    }
    if (end - this.taskStart >= this.#threshold) this.#reportTask(end);
    if (end - start >= this.#threshold) this.#report('pile-up', start, end, 0);
  }

  /** The task ended at `end`: what is left of it drained after its callback. */
  #reportTask(end: number): void {
    this.#report('microtasks', this.taskStart, end, this.#callbacksBeforeTask);
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
    if (this.taskStart <= time) return ['microtasks', this.taskStart, this.#callbacksBeforeTask];
    return ['pile-up', this.iterations.busySince, 0];
  }

  /** When what runs has begun, without hooks: after the wait since the boundary. */
  #busySince(): number {
    const { busyPeriodStart } = this.iterations;
    return this.#blocks.reported.skip(busyPeriodStart, this.iterations.waitedSoFar() || 0);
  }

  /**
   * The time of {@link #busySince}, also if a signal interrupted the wait, which was over when the
   * beat was due.
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
   * A part that begins at `start` contains no wait. If the start is before one, the callback waited
   * in a loop of its own (`deasync`).
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
    around?: Attributed,
  ): boolean {
    if (!this.iterations.isCounting) return true;
    const from = Math.max(start, this.iterations.busySince);
    return this.#blocks.make(kind, from, end, before, this.#callbacks, around);
  }
}
