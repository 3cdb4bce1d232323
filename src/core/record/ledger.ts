/**
 * Accounts for the time of the event loop. The ledger is called for
 * - a *tick*: once per iteration, between what ran before and after it;
 * - an *interval*: a context scope, one call of the context manager's `with`, or, while async hooks
 *   are on, a callback from its `before` to its `after`;
 * - a *stack sample*, taken in the middle of what runs, and the end of what it has interrupted.
 *
 * `src/core/record/README.md` has a drawing.
 *
 * A *busy period* is the time from tick to tick, without the loop's wait. A *run* is a part of it
 * of which stack samples show that one callback, or one drain of promise reactions and nextTicks,
 * was running.
 *
 * An interval, run or busy period is examined when it ends. If it has lasted at least the
 * threshold, the parts of it that are not reported yet become blocks.
 *
 * A runtime that does not count what its loop waits has no ticks, and so no blocks.
 *
 * Guarantees: each millisecond is reported at most once, in the innermost part that reaches the
 * threshold, and no wait for events is a part of a block.
 */
import { type Context, trace } from '@opentelemetry/api';
import type { OngoingBlock, OngoingPileUp, StackSample } from '../../block.ts';
import type { Clock } from '../../support/clock.ts';
import type { BlockKind } from '../../types.ts';
import { LATE_MILLIS } from '../explain/name/weights.ts';
import { SharedMemory, wordOf } from '../sample/shared-memory.ts';
import { typeNameOf } from './attribution/owner.ts';
import { isMostlyUnknown, traceOf } from './attribution/stack-samples.ts';
import type { Attributed, Votes } from './attribution/votes.ts';
import { BlockMaker, MIN_LOST_WAIT_MILLIS, type OnBlock } from './block-maker.ts';
import { IterationClock } from './iteration-clock.ts';
import { RunningCallbacks } from './running-callbacks.ts';
import { isInItsSpan, type RunningCode } from './running-code.ts';

/** A drain of promise reactions and nextTicks that stack samples have interrupted. */
interface Drain {
  readonly start: number;
  /** When its first stack sample was asked for. */
  readonly known: number;
  /** Of the first sample that has a trace. */
  context: Context;
  /** Its latest known end, and how long the loop had waited in the busy period by then. */
  until: number;
  waited: number;
  /** Whether microtasks had drained by then: it is over, unless nextTicks and microtasks mix. */
  hasDrained: boolean;
  /** Whether they do: a stack sample saw it afterwards. */
  isMixed: boolean;
}

export interface LedgerTimes {
  readonly thresholdMillis: number;
  readonly beatMillis: number;
}

export class Ledger {
  // Each number is always a double or always a small integer: V8 updates them in place.
  readonly iterations: IterationClock;
  /** When the latest run ended that is known; the begin of the busy period before the first. */
  taskStart = Number.NaN;
  /** How long the loop had waited in the busy period by then. */
  #taskWaited = 0;
  /** It may go on: what runs next decides. */
  #drain: Drain | undefined;
  readonly #callbacks = new RunningCallbacks();
  /** When the latest callback that hooks told of ended, or the busy period began; NaN before. */
  #activeUntil = Number.NaN;
  #isWatched = false;
  /** The latest beat of the lag timer. */
  #beatAt = Number.NaN;
  readonly #threshold: number;
  readonly #beatMillis: number;
  readonly #blocks: BlockMaker;
  readonly #votes: Votes;

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

  /** Milliseconds that intervals have voted for so far. */
  get voted(): number {
    return this.#votes.voted;
  }

  /** Hot: once per iteration, in a callback of its own. */
  tick(): void {
    // V8 may have ended code half-way, without its `finally` and its `after`.
    this.#blocks.isOwnWork = false;
    this.#callbacks.clear();
    const t = this.clock.now();
    if (this.iterations.isCounting) this.#close(t);
    // At the first tick, startup is over.
    else this.iterations.end();
    this.#open(t);
  }

  /** A callback begins before the first tick: is the main script over? */
  endStartup(t = this.clock.now()): void {
    if (this.iterations.isCounting || !this.iterations.isStartupOver()) return;
    this.iterations.end();
    this.#open(t);
  }

  /** Hot, while async hooks are on: a callback begins. */
  enter(): void {
    const t = this.clock.now();
    // What drains after the main script is a part of it.
    if (!this.iterations.isCounting && this.code.drain() === undefined) this.endStartup(t);
    const isGap = t - this.#activeUntil >= MIN_LOST_WAIT_MILLIS;
    if (isGap && this.#callbacks.depth === 0) this.#endGap(t);
    this.#callbacks.enter(t, this.#votes.voted);
  }

  /** Hot, while async hooks are on: a callback ends. */
  leave(): void {
    const callbacks = this.#callbacks;
    if (!callbacks.leave()) return;
    const { start, votedBefore, depth } = callbacks;
    const t = this.clock.now();
    if (depth === 0) this.#activeUntil = t;
    if (!this.#mayCount(start, t)) return;
    const context = this.code.context();
    // Inside another callback, a resource without a span of its own is a part of that.
    if (depth > 0 && trace.getSpan(context) === undefined) return;
    const by = { context, resourceType: this.code.resourceType() };
    const isRun = depth === 0 && t - start >= this.#threshold;
    if (isRun) this.#beginAt(this.#busySince());
    const kind = this.code.drain() === 'reaction' ? 'microtasks' : 'callback';
    this.#endInterval(kind, start, t, votedBefore, by);
    if (isRun) this.#endRun(t);
  }

  /**
   * Hot. The end of a context scope that began at `start`, when {@link voted} was `votedBefore`.
   */
  scope(context: Context, start: number, votedBefore: number): void {
    if (this.isSurelyShort()) return;
    const t = this.clock.now();
    if (!this.#mayCount(start, t)) return;
    if (t - start >= this.#threshold && isInItsSpan(context, this.code.active())) return;
    const by = { context, resourceType: this.code.resourceType() };
    this.#endInterval('callback', start, t, votedBefore, by);
  }

  /** The code that these stack samples have interrupted, one after the other, returned at `t`. */
  ended(samples: readonly StackSample[], t: number): void {
    if (!this.iterations.isCounting) return;
    const runs = runsOf(samples);
    for (const [i, { first, interrupted, isLongTick }] of runs.entries()) {
      const after = runs[i + 1]?.first;
      // A nextTick, or a reaction that was queued before, has run after the callback. When it began
      // is not known: half-way between the two stack samples.
      const latest = (interrupted.at(-1) ?? first).time;
      const until = after === undefined ? t : (latest + (after.requestedAt || after.time)) / 2;
      for (const sample of interrupted) sample.ranUntil = until;
      this.#endSampled(first, until, isLongTick);
    }
  }

  /** What {@link ended} was told of last has drained until `t`. */
  drained(t: number): void {
    const drain = this.#drain;
    if (drain === undefined) return;
    this.#extendDrain(drain, t);
    drain.hasDrained = true;
    // Spans that end in this iteration have to know of it.
    if (!drain.isMixed && t - drain.start >= this.#threshold) this.#endDrain();
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
    return this.iterations.wasWaitingAt(time);
  }

  /** Describes the running block in the middle of it. */
  ongoing(isDrained: boolean): OngoingBlock {
    const t = this.clock.now();
    const since = this.#busySince();
    const isOne = t - since >= this.#threshold;
    const kind = isDrained ? 'microtasks' : 'callback';
    const from = Math.max(isOne ? since : this.iterations.busySince, this.#blocks.reported.end);
    return {
      kind: isOne ? kind : 'pile-up',
      start: from,
      callbacks: 1,
      cpu: this.#blocks.cpu.between(from, t),
      resourceType: typeNameOf(this.code.resourceType()),
    };
  }

  /** The context that what has run since `start` is attributed to. */
  ownerOf(by: Attributed, start: number): Context {
    const owners = this.#blocks.attribution.owners(this.#waitedUntil(start));
    return owners(by, start, this.clock.now());
  }

  /**
   * The pile-up before the running callback, if it reached the threshold and is not reported. Hot:
   * asked for each span that ends. The object is the same until more is known of it.
   */
  ongoingPileUp(): OngoingPileUp | undefined {
    if (this.isSurelyShort()) return undefined;
    const { busyPeriodStart, busySince } = this.iterations;
    const from = this.taskStart > busyPeriodStart ? busySince : this.#busySince();
    const t = this.clock.now();
    if (!(t - from >= this.#threshold)) return undefined;
    const others = this.#votes.othersUntil(this.code.active(), t);
    return this.#blocks.pileUp(from, Math.max(this.taskStart, others));
  }

  /** Runs reporting of this package. Blocks inside it are its own: they count in metrics only. */
  asOwnWork(work: () => void): void {
    this.#blocks.asOwnWork(work, (start, end) => this.#report('callback', start, end));
    // Nearly always it runs in an immediate of its own: what runs next begins now.
    if (!this.iterations.isCounting) return;
    this.#endDrain();
    this.#beginAt(this.#busySince());
    this.#endRun(this.clock.now());
  }

  /**
   * How long the loop surely waited for events from `due` to `beganAt`, when the beat began. `due`
   * is NaN if there was no beat before this one.
   */
  waitedSince(due: number, beganAt: number): number {
    this.#beatAt = beganAt;
    return this.iterations.waitedAfter(due);
  }

  /**
   * Closes what no further callback would close in time: the loop has run out of work, or waits for
   * it, or the SDK shuts down.
   */
  finish(): void {
    if (!this.iterations.isCounting) return;
    const t = this.clock.now();
    // The busy period has just begun, after a wait that the lag timer has not asked about yet.
    const age = t - this.iterations.busyPeriodStart;
    if (age < Math.min(MIN_LOST_WAIT_MILLIS, this.#threshold) && this.#waited === 0) return;
    this.#close(t);
    this.#open(t);
  }

  /**
   * Inside what runs, the thread has waited for work as the loop does, until now. What ran before
   * was closed by {@link finish}.
   */
  endWait(): void {
    if (!this.iterations.isCounting) return;
    this.iterations.end();
    this.#open(this.clock.now());
  }

  reset(): void {
    this.#callbacks.clear();
    this.#activeUntil = Number.NaN;
    this.#drain = undefined;
    this.#endRun(Number.NaN, 0);
    this.#beatAt = Number.NaN;
    this.iterations.reset();
    this.#blocks.reset();
  }

  /** Between two callbacks, the loop may have waited until a signal came, which is not counted. */
  #endGap(t: number): void {
    const activeUntil = this.#activeUntil;
    const isSeen = this.#blocks.attribution.samples.codeSeenAt > activeUntil;
    if (!this.iterations.isCounting || isSeen) return;
    const since = this.#busySince();
    const lost = this.#blocks.lostWait(Math.max(activeUntil, since), t);
    if (!(lost > 0)) return;
    this.#endDrain();
    this.#beginAt(since);
    this.#reportPeriod(this.iterations.busySince, activeUntil);
    this.iterations.tick(t, this.clock.idle());
    this.iterations.addLostWait(lost);
    this.#open(t);
  }

  #mayCount(start: number, t: number): boolean {
    return t - start >= this.#threshold || this.#votes.isVote(start, t);
  }

  #endInterval(
    kind: BlockKind,
    start: number,
    t: number,
    votedBefore: number,
    by: Attributed,
  ): void {
    if (t - start >= this.#threshold) {
      if (this.#report(kind, Math.max(start, this.#busySince()), t, by)) return;
    }
    if (!this.#blocks.isOwnWork) this.#votes.voteScope(start, t, votedBefore, by);
  }

  /**
   * What `first` has interrupted ran until `t`. It is known to have run since the sample was asked
   * for; of what ran before that, only scopes tell.
   */
  #endSampled(first: StackSample, t: number, isLongTick: boolean): void {
    const { context } = first;
    const isDrained = first.drain !== undefined;
    const isPart = isDrained && !isLongTick;
    const drain = this.#drain;
    if (isPart && drain !== undefined && isSameDrain(drain.context, context)) {
      drain.isMixed ||= drain.hasDrained;
      if (traceOf(drain.context) === undefined) drain.context = context;
      this.#extendDrain(drain, t);
      return;
    }
    this.#endDrain();
    const known = Math.max(this.taskStart, first.requestedAt || first.time);
    const since = this.#busySince();
    const lost = this.#lostWaitBefore(first, since, known);
    if (lost > 0) this.clock.addLostWait(lost);
    this.#beginAt(since + lost);
    const start = Math.max(this.taskStart, this.#votes.othersUntil(context, known));
    if (isPart) {
      const begin = { start, known, context };
      const end = { until: t, waited: this.#waited, hasDrained: false, isMixed: false };
      this.#drain = { ...begin, ...end };
    } else {
      this.#reportRun(isDrained ? 'microtasks' : 'callback', start, known, t);
      this.#endRun(t);
    }
  }

  #extendDrain(drain: Drain, t: number): void {
    drain.until = t;
    drain.waited = this.#waited;
  }

  /** Something else has run, or the iteration turns. */
  #endDrain(): void {
    const drain = this.#drain;
    if (drain === undefined) return;
    this.#drain = undefined;
    const { start, known, until } = drain;
    this.#reportRun('microtasks', start, known, until);
    this.#endRun(until, drain.waited);
  }

  #reportRun(kind: BlockKind, start: number, known: number, end: number): void {
    if (end - start >= this.#threshold && !isMostlyUnknown(start, known, end))
      this.#report(kind, start, end);
  }

  #endRun(t: number, waited = this.#waited): void {
    this.taskStart = t;
    this.#taskWaited = waited;
  }

  get #waited(): number {
    return this.iterations.waitedSoFar();
  }

  /**
   * The iteration turns at `t`. A drain in which nextTicks and microtasks mix has gone on after the
   * latest sample of it, if nobody else is known to have run.
   */
  #endDrainAt(t: number, waited: number): void {
    const drain = this.#drain;
    if (drain === undefined) return;
    const goesOn = drain.isMixed && waited === drain.waited && t - drain.until < this.#threshold;
    if (goesOn && this.#votes.othersUntil(drain.context, t) <= drain.until) drain.until = t;
    this.#endDrain();
  }

  /** Ends a busy period at a tick. The loop has waited soon after the latest run that is known. */
  #close(t: number): void {
    const { busyPeriodStart } = this.iterations;
    const waited = this.iterations.tick(t, this.clock.idle());
    if (!(t - busyPeriodStart - waited >= MIN_LOST_WAIT_MILLIS)) return;
    this.#endDrainAt(t, waited);
    const since = this.#blocks.reported.skip(this.taskStart, waited - this.#taskWaited);
    const lost = this.#lostWait(since, t);
    if (lost > 0) this.iterations.addLostWait(lost);
    this.#beginAt(since + lost);
    this.#reportPeriod(this.iterations.busySince, t);
  }

  /**
   * How much longer than counted the loop waited. It did not if a stack sample showed code, nor
   * while a beat was overdue.
   */
  #lostWait(busySince: number, t: number): number {
    const overdue = t - (this.#beatAt + this.#beatMillis);
    if (overdue >= this.#beatMillis) return 0;
    // Only then: this reads stacks.
    if (this.#blocks.attribution.samples.codeSeenAt > this.iterations.busyPeriodStart) return 0;
    return this.#blocks.lostWait(busySince, overdue > 0 ? t - overdue : t);
  }

  /**
   * The same before what a stack sample has interrupted, which may wait itself in a native call. A
   * wait was over when the beat was due.
   */
  #lostWaitBefore(first: StackSample, since: number, known: number): number {
    const untilDue = this.#beatAt + this.#beatMillis - since;
    const isWaiting = first.nativeCall !== undefined || first.time - known >= LATE_MILLIS;
    if (isWaiting || !(untilDue > 0)) return 0;
    return Math.min(untilDue, this.#blocks.lostWait(since, known));
  }

  /** What runs began at `t`. If the loop waited until then, all that ran before is over. */
  #beginAt(t: number): void {
    if (!(t > this.taskStart)) return;
    this.#reportPeriod(this.iterations.busySince, this.taskStart);
    this.iterations.busySince = t;
    this.#endRun(t);
    this.#blocks.cpu.waitedUntil(t);
  }

  /** When what runs has begun at the earliest: after the wait since the latest known run. */
  #busySince(): number {
    return this.#blocks.reported.skip(this.taskStart, this.#waited - this.#taskWaited);
  }

  /** When the loop has waited last before `start`, as far as is known. */
  #waitedUntil(start: number): number {
    return Math.max(this.iterations.busySince, Math.min(start, this.#busySince()));
  }

  /** Of what is part of no long run, stack samples say the kind. */
  #reportPeriod(start: number, end: number): void {
    if (!(end - start >= this.#threshold)) return;
    this.#report(this.#blocks.attribution.samples.kindOf(start, end), start, end);
  }

  #open(t: number): void {
    this.iterations.open(t);
    this.#blocks.open(t, this.iterations.idleAtStart);
    this.#drain = undefined;
    if (this.#activeUntil < t) this.#activeUntil = t;
    this.#endRun(t, 0);
  }

  #report(kind: BlockKind | undefined, start: number, end: number, around?: Attributed): boolean {
    if (!this.iterations.isCounting) return true;
    const from = Math.max(start, this.iterations.busySince);
    return this.#blocks.make(kind, from, end, around, this.#waitedUntil(from));
  }
}

interface SampledRun {
  readonly first: StackSample;
  readonly interrupted: StackSample[];
  /** Several samples have interrupted one nextTick: it is no short one of a chain. */
  isLongTick: boolean;
}

/**
 * What the samples have interrupted from one microtask checkpoint to the next: one callback, and
 * what drained after it. An AsyncResource is entered from either.
 */
function runsOf(samples: readonly StackSample[]): SampledRun[] {
  const runs: SampledRun[] = [];
  for (const sample of samples) {
    const run = runs.at(-1);
    const latest = run?.interrupted.findLast(({ drain }) => drain !== undefined);
    const isSameTick = sample.drain === 'tick' && sample.asyncId === latest?.asyncId;
    const isNested = sample.drain === undefined;
    const isOne =
      isNested ||
      isSameTick ||
      (latest !== undefined && !run?.isLongTick && isSameDrain(latest.context, sample.context));
    if (run === undefined || !isOne) {
      runs.push({ first: sample, interrupted: [sample], isLongTick: false });
    } else if (isSameTick && !run.isLongTick && latest !== run.first) {
      // The nextTick before this sample was the first of a long one.
      const first = latest as StackSample;
      const interrupted = run.interrupted.splice(run.interrupted.indexOf(first));
      runs.push({ first, interrupted: [...interrupted, sample], isLongTick: true });
    } else {
      run.interrupted.push(sample);
      run.isLongTick ||= isSameTick;
    }
  }
  return runs;
}

/** Between two reactions, the context of none is active. */
function isSameDrain(a: Context, b: Context): boolean {
  const traces = [traceOf(a), traceOf(b)];
  return traces.includes(undefined) || traces[0] === traces[1];
}
