/**
 * The account of the event loop's time. The iteration is the unit: libuv counts iterations and the time it waits for
 * events, so the busy time of an iteration is exact without polling and without a hook on every promise.
 *
 * Inside an iteration the ledger knows
 *
 * - a *callback*: from an outermost async_hooks `before` to its `after`;
 * - a *task*: a callback and what drained after it (nextTicks, microtasks), until the next callback begins;
 * - a *scope*: one call of the context manager's `with`;
 * - a *stretch*: the busy time of one iteration, cut where the loop waited for events.
 *
 * Whenever one of them ends and has lasted at least the threshold, the parts of it that nobody reported yet are
 * reported: each millisecond once, and by the innermost that reaches the threshold.
 */
import { type Context, type Span, trace } from '@opentelemetry/api';
import type { Block, OngoingBlock, OngoingPileUp, StackSample, WeightedSample } from '../block.ts';
import { blockingFunctionIn } from '../code/blocking-function.ts';
import type { Clock } from '../support/clock.ts';
import type { BlockKind } from '../types.ts';
import { createSharedMemory, Mark } from '../watchdog/shared-memory.ts';
import { CpuMeter } from './cpu-meter.ts';
import { Claims } from './reported-intervals.ts';
import { StackSamples } from './stack-samples.ts';
import { Blame, type Verdict } from './votes.ts';

/** What an outermost callback is to the ledger. */
export const CALLBACK = 0;
/** A nextTick: runs in the drain of the callback before it. */
export const TICK = 1;
/** A promise reaction or a queueMicrotask: runs in a drain, is not counted. */
export const REACTION = 2;
/** An AsyncResource entered from a reaction that no hook sees: as REACTION, but known to be one synchronous stretch. */
export const RESOURCE_SCOPE = 3;
/**
 * A callback of an HTTP server's parser. Of a message that comes at once there are three in a row: headers, which run the handler, end, and
 * the end of the reading. Node.js drains after the third only, so they are one task (seen on Node.js 20 to 26; `kSkipTaskQueues`
 * in its `node_http_parser.cc`).
 */
export const MESSAGE = 4;
export type CallbackClass =
  | typeof CALLBACK
  | typeof TICK
  | typeof REACTION
  | typeof RESOURCE_SCOPE
  | typeof MESSAGE;

/** Callbacks of one message that are one task. With a body, what comes after its first piece is drained for itself. */
const MAX_MESSAGE_CALLBACKS = 3;

/** Nested callbacks are timed down to this depth; deeper ones count for the one around them. */
const MAX_DEPTH = 32;

/**
 * Within this many milliseconds of an iteration's start the loop count is not read again: an iteration that short is taken together with
 * the next callback, which costs the next iteration its first one. Where iterations are that short, reading is a third of what they take.
 */
export const MIN_ITERATION_MILLIS = 0.02;

/**
 * An iteration that begins within this many milliseconds of one that was opened takes over what that one has noted, instead of opening
 * anew. Saves some 300 ns an iteration where they are short.
 */
export const ITERATION_GRAIN_MILLIS = 0.25;

/** Votes on who holds the loop begin when a stretch is this share of the threshold old; callbacks vote this far apart. */
const VOTE_SHARE = 0.05;
/** How far apart CPU readings are, as a share of the threshold. */
const CPU_SHARE = 0.1;

/** What the ledger asks the outside, on cold paths only. */
export interface Surroundings {
  /** The context of the async resource that is running; asked in its `after`. */
  context(): Context;
  /** Type of the async resource that is running. */
  resourceType(): string | undefined;
  /** Unix time at which a span started, NaN where unknown. */
  spanStart(span: Span): number;
}

export class IterationLedger {
  /** Milliseconds that scopes and callbacks have voted for so far. A scope takes note of it when it begins. */
  voted = 0.5;

  // Numbers only, each always a double or always a small integer, so that V8 updates them in place (no allocation).
  #depth = 0;
  #class: CallbackClass = CALLBACK;
  #primed = false;
  #callbacks = 0;
  #taskFirstCallback = 0;
  #loopCount = -1;
  /** The latest callbacks of one parser in a row, and whose they are: its async id. */
  #messageCallbacks = 0;
  #messageId = 0;
  #callbackStart = Number.NaN;
  #taskStart = Number.NaN;
  #stretchStart = Number.NaN;
  /** When the latest iteration was opened anew. */
  #openedAt = Number.NaN;
  /** Idle time of the loop when the stretch started. */
  #idle = Number.NaN;
  /** Idle time that ended with the latest `before` which read it, and when. For the lag. */
  #waited = Number.NaN;
  #waitedAt = Number.NaN;
  /** The last time the clock was read, by `before` or `after`. */
  #seen = Number.NaN;
  #votedBefore = 0.5;
  #scopesVoteFrom = Number.POSITIVE_INFINITY;
  #callbacksVoteFrom = Number.POSITIVE_INFINITY;
  #ownWork = false;
  #ownStart = Number.NaN;
  readonly #nestedStarts = new Float64Array(MAX_DEPTH + 1).fill(Number.NaN);
  readonly #nestedVoted = new Float64Array(MAX_DEPTH + 1);

  readonly #threshold: number;
  readonly #clock: Clock;
  readonly #around: Surroundings;
  readonly #onBlock: (block: Block) => void;
  readonly #claims = new Claims();
  readonly #samples = new StackSamples();
  /** Shared with the watchdog, where there is one. */
  readonly #marks: Float64Array;
  /** Whether the watchdog says when callbacks have to be timed. */
  #relaxed = false;
  readonly #blame: Blame;
  readonly #cpu: CpuMeter;

  constructor(
    thresholdMillis: number,
    clock: Clock,
    surroundings: Surroundings,
    onBlock: (block: Block) => void,
    marks: Float64Array = createSharedMemory().marks,
  ) {
    this.#threshold = thresholdMillis;
    this.#clock = clock;
    this.#around = surroundings;
    this.#onBlock = onBlock;
    this.#marks = marks;
    this.#blame = new Blame(surroundings.spanStart);
    this.#cpu = new CpuMeter(clock, thresholdMillis * CPU_SHARE);
  }

  /** The latest `before`, as a time of the clock. */
  get callbackStart(): number {
    return this.#callbackStart;
  }

  /**
   * Hot. The beginning of an outermost callback.
   * @param asyncId of its resource; asked for a {@link MESSAGE} only
   */
  before(callbackClass: CallbackClass, asyncId = 0): void {
    const previous = this.#class;
    this.#class = callbackClass;
    this.#votedBefore = this.voted;
    if (callbackClass === REACTION) {
      // No clock is read: nobody asks when a reaction started, `after` votes with what has passed since the last reading.
      this.#callbackStart = this.#seen;
      return;
    }
    const t = this.#clock.now();
    if (callbackClass === RESOURCE_SCOPE) {
      this.#callbackStart = t;
      return;
    }
    if (callbackClass !== TICK) {
      if (!(t - this.#stretchStart < MIN_ITERATION_MILLIS)) {
        if (t - this.#openedAt < ITERATION_GRAIN_MILLIS) this.#turnSoon(t);
        else this.#turn(t);
      }
      const isLong = t - this.#taskStart >= this.#threshold;
      if (isLong) this.#closeTask(t);
      const goesOn = callbackClass === MESSAGE && this.#goesOn(previous, asyncId);
      if (isLong || !goesOn) {
        this.#taskStart = t;
        this.#taskFirstCallback = this.#callbacks;
      }
    }
    this.#callbacks++;
    this.#callbackStart = t;
    this.#seen = t;
  }

  /** Hot. Counts a `before`; true where it is an outermost one. */
  enter(): boolean {
    return this.#depth++ === 0;
  }

  /** Hot. Counts an `after`; how many callbacks are left around it, or -1 where its `before` was not seen. */
  leave(): number {
    // Zero: the hook was enabled inside a callback.
    return this.#depth === 0 ? -1 : --this.#depth;
  }

  /** The beginning of a callback inside another one: `AsyncResource.runInAsyncScope`, an HTTP message on a TLS socket. */
  beforeNested(): void {
    const depth = this.#depth;
    if (depth > MAX_DEPTH) return;
    this.#nestedStarts[depth] = this.#clock.now();
    this.#nestedVoted[depth] = this.voted;
  }

  /** The end of a callback inside `depth` others. A resource has a context of its own, so it is as good as a scope. */
  afterNested(depth: number): void {
    if (depth >= MAX_DEPTH) return;
    const start = this.#nestedStarts[depth + 1] as number;
    const t = this.#clock.now();
    if (!(t - start >= this.#threshold) && !(t >= this.#scopesVoteFrom)) return;
    const context = this.#context();
    // Without a span of its own it is a part of what is around it.
    if (trace.getSpan(context) !== undefined)
      this.scope(context, start, this.#nestedVoted[depth + 1] as number);
  }

  /** Hot. The end of an outermost callback. */
  after(): void {
    // Saves a clock read: a callback that the watchdog did not see grow old cannot have been long.
    if (this.#relaxed && this.#marks[Mark.markedBusyPeriod] !== this.#stretchStart) return;
    const t = this.#clock.now();
    this.#seen = t;
    if (t - this.#callbackStart >= this.#threshold && this.#class !== REACTION) {
      const callbacksBefore = this.#class === RESOURCE_SCOPE ? this.#callbacks : this.#callbacks - 1;
      const start = this.#notBeforeAWait(this.#callbackStart);
      const isWhole = this.voted === this.#votedBefore;
      this.#claim('callback', start, t, callbacksBefore, this.#ambient(t), isWhole);
    } else if (t >= this.#callbacksVoteFrom) {
      this.#voteCallback(t);
    }
  }

  /** Hot. The end of a context scope that began at `start`, when {@link voted} was `votedBefore`. */
  scope(context: Context, start: number, votedBefore: number): void {
    const t = this.#clock.now();
    if (t - start >= this.#threshold) {
      const blamed = { context, resourceType: this.#around.resourceType() };
      const isWhole = this.voted === votedBefore;
      this.#claim('callback', this.#notBeforeAWait(start), t, this.#callbacks - 1, blamed, isWhole);
    } else if (t >= this.#scopesVoteFrom) {
      // Each for its own time, less what the scopes inside it voted for.
      this.#vote(start, t, t - start - (this.voted - votedBefore), context);
    }
  }

  /**
   * From now on the watchdog says when a stretch has grown old, and the ends of callbacks are timed only then. Where the watchdog
   * itself had no CPU for half of the threshold, a long callback can only be guessed to have been one.
   */
  relax(relaxed: boolean): void {
    this.#relaxed = relaxed;
  }

  /** Whether the stretch that began at `stretchStart` is what runs now: not the next one, nor the loop waiting for events. */
  isRunning(stretchStart: number): boolean {
    if (!this.#primed || this.#stretchStart !== stretchStart) return false;
    // Without hooks a stretch is all that happened since a beat, and the loop may well have waited in it.
    return this.#loopCount === -1 || this.#clock.idle() - this.#idle < ITERATION_GRAIN_MILLIS;
  }

  /** In the middle of whatever runs: a stack sample of it. */
  add(sample: StackSample): void {
    // Without hooks and without user code, the loop may as well be waiting. With hooks that is known.
    if (this.#ownWork || (this.#loopCount === -1 && blockingFunctionIn(sample) === undefined)) return;
    this.#samples.add(sample);
  }

  /** In the middle of a block: what is known of it so far. */
  ongoing(): OngoingBlock {
    const t = this.#clock.now();
    let kind: BlockKind = 'pile-up';
    let start = this.#stretchStart;
    let callbacksBefore = 0;
    if (this.#depth > 0 && this.#class !== REACTION && t - this.#callbackStart >= this.#threshold) {
      kind = 'callback';
      start = this.#callbackStart;
      callbacksBefore = this.#callbacks - 1;
    } else if (t - this.#taskStart >= this.#threshold) {
      kind = 'microtasks';
      start = this.#taskStart;
      callbacksBefore = this.#taskFirstCallback;
    }
    return {
      kind,
      start: Math.max(start, this.#claims.end),
      callbacks: Math.max(1, this.#callbacks - callbacksBefore),
      cpu: this.#cpu.between(start, t),
      resourceType: this.#around.resourceType(),
    };
  }

  /**
   * What piled up in this iteration before the running callback, where that has reached the threshold and nobody reported it. The
   * running callback, with what drains after it, is not in it.
   */
  ongoingPileUp(): OngoingPileUp | undefined {
    const end = this.#taskStart;
    if (!(end - this.#stretchStart >= this.#threshold)) return undefined;
    const start = Math.max(this.#stretchStart, this.#claims.end);
    if (end - start < this.#threshold) return undefined;
    return { start, end, context: this.#verdict(start, end, this.#samples.within(start, end))?.context };
  }

  /** This package's own reporting begins: until {@link endOwnWork}, blocks count in metrics only. */
  beginOwnWork(): void {
    this.#ownWork = true;
    this.#ownStart = this.#clock.now();
  }

  endOwnWork(): void {
    const t = this.#clock.now();
    if (t - this.#ownStart >= this.#threshold) {
      this.#claim('callback', this.#ownStart, t, this.#callbacks - 1, undefined);
    }
    this.#ownWork = false;
  }

  /**
   * For a callback of our own at the top of the stack: says that nothing else is running, so that a `before` or `after`
   * lost to a `disable()` in the middle or a torn async stack cannot stop detection for longer than one beat. What was taken for
   * running has ended at a time that nobody saw: it is not timed.
   */
  resync(): void {
    if (this.#depth === 1) return;
    this.#depth = 1;
    this.before(CALLBACK);
  }

  /** How much of the time from `due` until the running callback the loop spent waiting for events. */
  waitedSince(due: number): number {
    if (this.#waitedAt !== this.#callbackStart) return 0;
    return Math.min(this.#waited, this.#callbackStart - due);
  }

  /**
   * Without hooks: the loop was held for `length` until now, by what nobody knows. What scopes reported of it is left
   * out. With `length` 0: nothing was. Scopes vote again in `voteDelay` milliseconds.
   */
  closeUnseen(length: number, voteDelay: number): void {
    const t = this.#clock.now();
    if (length >= this.#threshold && this.#primed) {
      this.#claim(undefined, t - length, t, 0, undefined);
    }
    this.#open(t, -1, 0);
    this.#scopesVoteFrom = t + voteDelay;
  }

  /** The loop has run out of work: closes what no further callback would close. */
  finish(): void {
    if (!this.#primed) return;
    const t = this.#clock.now();
    const idle = this.#clock.idle();
    this.#close(t, idle - this.#idle);
    this.#open(t, this.#clock.loopCount(), idle);
  }

  /** Forgets everything, as before the first callback. */
  reset(): void {
    this.#depth = 0;
    this.#primed = false;
    this.#openedAt = Number.NaN;
    this.#stretchStart = Number.NaN;
    this.#taskStart = Number.NaN;
    this.#callbackStart = Number.NaN;
    this.#seen = Number.NaN;
    this.#waitedAt = Number.NaN;
    this.#scopesVoteFrom = Number.POSITIVE_INFINITY;
    this.#callbacksVoteFrom = Number.POSITIVE_INFINITY;
    this.#claims.clear();
    this.#blame.clear();
    this.#samples.clear();
    this.#marks[Mark.busyPeriodStart] = 0;
  }

  /** A callback begins at `t`: has the loop turned, or waited, since the stretch began? */
  #turn(t: number): void {
    const loopCount = this.#clock.loopCount();
    const sameIteration = loopCount === this.#loopCount;
    // An iteration waits at most once. A wait shows as a gap between callbacks, or as a long task where a reaction filled the gap.
    if (
      sameIteration &&
      t - this.#seen < ITERATION_GRAIN_MILLIS &&
      !(t - this.#taskStart >= this.#threshold) &&
      this.#primed
    ) {
      this.#cpu.sample(t);
      return;
    }
    const idle = this.#clock.idle();
    const waited = idle - this.#idle;
    if (!this.#primed) {
      // Startup is not a block. It ends with the first callback after the main script; in a worker thread, where
      // `loopStart` may never be set, with the second iteration.
      if (!this.#clock.loopStarted() && (this.#loopCount === -1 || sameIteration)) {
        this.#loopCount = loopCount;
        this.#stretchStart = t;
        return;
      }
      this.#primed = true;
    } else if (sameIteration && waited <= 0) {
      this.#cpu.sample(t);
      return;
    } else {
      this.#close(t, waited);
    }
    this.#waited = waited;
    this.#waitedAt = t;
    this.#open(t, loopCount, idle);
  }

  /** As {@link #turn}, so soon after a stretch was opened that nothing before `t` can be part of a block. Some 60 ns, 20 on Node.js 26. */
  #turnSoon(t: number): void {
    const loopCount = this.#clock.loopCount();
    if (loopCount === this.#loopCount) return;
    const idle = this.#clock.idle();
    this.#waited = idle - this.#idle;
    this.#waitedAt = t;
    this.#loopCount = loopCount;
    this.#idle = idle;
    this.#stretchStart = t;
    this.#taskStart = t;
    this.#callbacks = 0;
    this.#marks[Mark.busyPeriodStart] = t;
  }

  /** Whether a callback of a parser comes before there was a drain for the one before it. */
  #goesOn(previous: CallbackClass, asyncId: number): boolean {
    const isSame = previous === MESSAGE && asyncId === this.#messageId && this.#callbacks > 0;
    this.#messageId = asyncId;
    this.#messageCallbacks = isSame ? this.#messageCallbacks + 1 : 1;
    return isSame && this.#messageCallbacks <= MAX_MESSAGE_CALLBACKS;
  }

  #open(t: number, loopCount: number, idle: number): void {
    this.#primed = true;
    this.#loopCount = loopCount;
    this.#idle = idle;
    this.#openedAt = t;
    this.#stretchStart = t;
    this.#taskStart = t;
    this.#callbacks = 0;
    this.#taskFirstCallback = 0;
    this.#scopesVoteFrom = t + this.#threshold * VOTE_SHARE;
    this.#callbacksVoteFrom = this.#scopesVoteFrom;
    this.#claims.clear();
    this.#blame.clear();
    this.#samples.clear();
    this.#marks[Mark.busyPeriodStart] = t;
    this.#cpu.open(t, idle);
  }

  /** It is `t`, and of the time since the stretch began the loop has waited `waited`: at the end, as far as that can be. */
  #close(t: number, waited: number): void {
    const end = Math.max(this.#seen, this.#claims.end, t - waited);
    // Node.js runs some reactions and ticks without a callback around them (`Atomics.waitAsync` is one that does): where one was seen
    // after a wait, the wait lies before it, nobody knows where. It is taken off at the beginning, so that the length is right.
    const start = this.#claims.skip(this.#stretchStart, Math.max(0, waited - (t - end)));
    if (start > this.#taskStart) this.#taskStart = start;
    if (end - this.#taskStart >= this.#threshold) this.#closeTask(end);
    if (end - start >= this.#threshold) this.#claim('pile-up', start, end, 0, undefined);
  }

  /** The task ended at `end`: what is left of it drained after its callback. */
  #closeTask(end: number): void {
    // Where nobody timed the callback's end: if nothing is known to have drained after it, it was the callback.
    const isUntimed = this.#relaxed && this.#marks[Mark.markedBusyPeriod] !== this.#stretchStart;
    const kind = isUntimed && this.#callbacks - this.#taskFirstCallback === 1 ? 'callback' : 'microtasks';
    this.#claim(kind, this.#taskStart, end, this.#taskFirstCallback, undefined);
  }

  /**
   * Whom to blame for the callback that ends at `t`: its own context; where that has no span (an HTTP server's callback has
   * none, its handler runs in a scope), the scope that was seen most.
   */
  #ambient(t: number): Verdict {
    const context = this.#context();
    const resourceType = this.#around.resourceType();
    if (trace.getSpan(context) !== undefined) return { context, resourceType };
    const start = this.#callbackStart;
    const seen = this.#verdict(start, t, this.#samples.within(start, t));
    return { context: seen?.context ?? context, resourceType };
  }

  #verdict(start: number, end: number, samples: WeightedSample[]): Verdict | undefined {
    return this.#blame.verdict(start, end, this.#clock.epoch(start), this.#threshold, samples);
  }

  /** The context of what has just ended. Asking may run a callback of its own: it is far too deep to count. */
  #context(): Context {
    this.#depth += MAX_DEPTH + 1;
    try {
      return this.#around.context();
    } finally {
      this.#depth -= MAX_DEPTH + 1;
    }
  }

  /** A sample of what runs in a drain or a pile-up: stands for itself, or for its short neighbours since the latest vote. */
  #voteCallback(t: number): void {
    const step = this.#threshold * VOTE_SHARE;
    const own = t - this.#callbackStart - (this.voted - this.#votedBefore);
    const { lastVote } = this.#blame;
    const weight = Math.max(own, Number.isNaN(lastVote) ? step : Math.min(t - lastVote, step));
    this.#vote(this.#callbackStart, t, weight, this.#context());
    this.#callbacksVoteFrom = t + step;
  }

  /** Nothing that runs holds a wait: a start from before one is that of another callback, whose end was lost. Cold. */
  #notBeforeAWait(start: number): number {
    if (this.#loopCount === -1) return start;
    return Math.max(start, this.#claims.skip(this.#stretchStart, this.#clock.idle() - this.#idle));
  }

  #vote(start: number, end: number, weight: number, context: Context): void {
    // Reporting runs in the contexts of spans that are long over.
    if (this.#ownWork) return;
    this.voted += weight;
    this.#blame.vote(start, end, weight, context, this.#around.resourceType());
  }

  /** @param isWhole no scope inside it voted: a span that captures saw in it was entered by other means */
  #claim(
    kind: BlockKind | undefined,
    start: number,
    end: number,
    callbacksBefore: number,
    blamed: Verdict | undefined,
    isWhole = false,
  ): void {
    if (!this.#primed) return;
    const threshold = this.#threshold;
    this.#claims.claim(
      Math.max(start, this.#stretchStart),
      end,
      threshold,
      callbacksBefore,
      this.#callbacks,
      (from, to, callbacks) => {
        // The watchdog samples what runs from here on anew.
        this.#marks[Mark.reportedUntil] = Math.max(this.#marks[Mark.reportedUntil] as number, to);
        const samples = this.#samples.within(from, to);
        let verdict = blamed ?? this.#verdict(from, to, samples);
        if (verdict !== undefined && isWhole) {
          verdict = this.#blame.enteredIn(verdict, from, to, this.#clock.epoch(from), samples);
        }
        this.#onBlock({
          kind,
          start: from,
          end: to,
          callbacks,
          context: verdict?.context,
          resourceType: verdict?.resourceType,
          cpu: this.#cpu.between(from, to),
          samples,
          isOwnWork: this.#ownWork,
        });
      },
    );
  }
}
