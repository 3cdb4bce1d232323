/**
 * The loop profile, on the main thread: answers what runs at a random moment, and adds it up by
 * function and by operation. Guarantees: nothing of what is named is found out inside the answer; a
 * sample that speaks of a moment in another task than the one that answers names nobody.
 */
import { ROOT_CONTEXT } from '@opentelemetry/api';
import type { Block, StackSample } from '../block.ts';
import type { SampledCode } from '../name/describe-code.ts';
import { isBetweenReactions } from '../name/stack-path.ts';
import { LATE_MILLIS } from '../name/weights.ts';
import type { Operation } from '../otel/operation.ts';
import { MAX_PROFILE_WINDOW_MILLIS } from '../profile-window.ts';
import type { CapturedSample } from '../sample/capturer.ts';
import { BARE, IDLE, type ProfileReply, TAKEN } from '../sample/protocol.ts';
import type { Clock } from '../support/clock.ts';
import type { CodePlace, LoopProfile } from '../types.ts';
import type { EntryOperation } from './entry-operation.ts';
import { type UsedPlace, UsedTimes } from './used-time.ts';

/** Samples that wait to be named; they do at the next beat. */
const MAX_PENDING = 64;
/** Samples whose entry span has not ended. The oldest are counted as they are. */
const MAX_OPEN = 512;
/** A request that takes longer is counted under what is known of it by then. */
const MAX_OPEN_MILLIS = 30_000;
/** Entry spans are asked this often whether they have ended. */
const CHECK_MILLIS = 500;

interface Open extends UsedPlace {
  readonly time: number;
  readonly millis: number;
  readonly entry: EntryOperation;
}

export class LoopProfiler {
  readonly #times = new UsedTimes();
  #pending: { readonly sample: StackSample; readonly millis: number }[] = [];
  #open: Open[] = [];
  /** A moment of which the sample shows no code: without a sample if the loop may have waited. */
  #bare: { requestedAt: number; millis: number; sample: StackSample | undefined } | undefined;
  #checkedAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly clock: Clock,
    private readonly ports: {
      sample(requestedAt: number): CapturedSample;
      /** Whether the loop waited for events then; undefined if that is not known. */
      wasWaitingAt(time: number): boolean | undefined;
      /** When the latest task began; NaN if that is not known. */
      taskStart(): number;
      /** A late answer says what a block is made of, too. */
      addToBlock(sample: StackSample): void;
      entryOf(context: StackSample['context']): EntryOperation;
      describe(
        samples: Pick<Block, 'samples' | 'start' | 'end'>,
        done: (code: SampledCode) => void,
      ): void;
      /** `millis`: of the loop's time. */
      count(millis: number, code: CodePlace | undefined, operation: Operation): void;
    },
  ) {}

  stop(): void {
    this.report();
    this.#times.clear();
  }

  /**
   * Inside what runs, asked at a random moment. What an answer stands for: the interval between two
   * moments on average; and, until the answer, moments that would have come meanwhile.
   * @param askedAt NaN if the answer comes before that is known: then it has not been delayed
   * @param isRepeat the latest answer was `BARE`: what is found now stands for that moment
   */
  answer(askedAt: number, intervalMillis: number, isRepeat = false): ProfileReply {
    const requestedAt = Number.isNaN(askedAt) ? this.clock.now() : askedAt;
    const waited = this.ports.wasWaitingAt(requestedAt);
    if (waited === true) return IDLE;
    if (isRepeat) return this.#repeat(requestedAt);
    this.#settle();
    const sample = this.ports.sample(requestedAt);
    const isLate = sample.time - requestedAt >= LATE_MILLIS;
    const millis = intervalMillis + Math.max(0, sample.time - requestedAt);
    if (!isLate && !sample.showsCode() && isBetweenReactions(sample.frames)) {
      // Without hooks, nothing on the stack may also be the wait.
      const mayBeIdle = waited === undefined && sample.frames.length === 0;
      this.#bare = { requestedAt, millis, sample: mayBeIdle ? undefined : sample };
      return BARE;
    }
    if (isLate) this.#addLate(sample, millis);
    else this.#add(sample, millis);
    return TAKEN;
  }

  /** A stack sample of a block: moments that would have come before it came count for it. */
  addBlockSample(sample: StackSample, intervalMillis: number): void {
    const waited = sample.time - sample.requestedAt;
    if (intervalMillis > 0 && waited >= LATE_MILLIS) this.#add(sample, waited);
  }

  get hasSamples(): boolean {
    return this.#pending.length > 0 || this.#bare !== undefined || this.#open.length > 0;
  }

  hasWork(now: number): boolean {
    return (
      this.#pending.length > 0 ||
      this.#bare !== undefined ||
      (this.#open.length > 0 && now - this.#checkedAt >= CHECK_MILLIS)
    );
  }

  /** @param idle for how long the loop has waited for events by `now` */
  beat(now: number, idle: number): void {
    this.#times.note(now, idle);
  }

  /** Names what was sampled, and counts what is known for good. */
  work(now: number): void {
    this.#settle();
    this.#checkedAt = now;
    this.#name();
    this.#close(now);
  }

  /** Counts everything under what is known by now. */
  report(): void {
    this.#settle();
    this.#name();
    this.#close(Number.POSITIVE_INFINITY);
  }

  read(windowMillis = MAX_PROFILE_WINDOW_MILLIS): LoopProfile {
    const open = this.#open.map(({ entry, ...used }) => ({ ...used, operation: entry.read() }));
    return this.#times.read(this.clock.now(), this.clock.waited(), windowMillis, open);
  }

  #repeat(requestedAt: number): ProfileReply {
    const sample = this.ports.sample(requestedAt);
    const waited = sample.time - requestedAt;
    // Native code ran meanwhile.
    if (waited >= LATE_MILLIS) this.#addLate(sample, waited);
    const bare = this.#bare;
    // Another task has begun.
    if (bare === undefined || this.ports.taskStart() > bare.requestedAt) return IDLE;
    if (!sample.showsCode()) return BARE;
    this.#bare = undefined;
    this.#add(sample, bare.millis);
    return TAKEN;
  }

  /** No repeat has shown code: it is counted as it was. */
  #settle(): void {
    const bare = this.#bare;
    this.#bare = undefined;
    if (bare?.sample !== undefined) this.#add(bare.sample, bare.millis);
  }

  #addLate(sample: StackSample, millis: number): void {
    this.#add(sample, millis);
    this.ports.addToBlock(sample);
  }

  #add(sample: StackSample, millis: number): void {
    if (this.#pending.length === MAX_PENDING) return;
    const isLate = sample.time - sample.requestedAt >= LATE_MILLIS;
    // The task of the moment has ended in native code: what runs now is another one.
    const isOther = isLate && this.ports.taskStart() > sample.requestedAt;
    this.#pending.push({
      sample: isOther ? nobodys(sample) : sample,
      millis,
    });
  }

  #name(): void {
    const pending = this.#pending;
    this.#pending = [];
    for (const { sample, millis } of pending) {
      const { requestedAt, time, context } = sample;
      const entry = this.ports.entryOf(context);
      const start = Math.min(requestedAt, time) - 1;
      const samples = [{ ...sample, weight: 1 }];
      this.ports.describe({ samples, start, end: time }, (code) => {
        this.#opened({ time, millis, entry, ...placeOf(code) });
      });
    }
  }

  #opened(open: Open): void {
    if (!open.entry.isOpen) {
      this.#count(open);
      return;
    }
    this.#open.push(open);
    if (this.#open.length > MAX_OPEN) this.#count(this.#open.shift() as Open);
  }

  #close(now: number): void {
    const open = this.#open;
    this.#open = [];
    for (const each of open) {
      if (each.entry.isOpen && now - each.time < MAX_OPEN_MILLIS) this.#open.push(each);
      else this.#count(each);
    }
  }

  #count({ entry, ...place }: Open): void {
    const operation = entry.read();
    this.#times.add({ ...place, operation });
    this.ports.count(place.millis, place.code, operation);
  }
}

/** The stack is not read: an answer only copies. */
function nobodys({ requestedAt, time }: StackSample): StackSample {
  return { requestedAt, time, context: ROOT_CONTEXT, frames: [], resourceType: undefined };
}

/** Without the stack trace, which is long. */
function placeOf({ code, nativeCall }: SampledCode): UsedPlace {
  if (code === undefined) return nativeCall === undefined ? {} : { nativeCall: nativeCall.name };
  const { stackTrace, requires, ...place } = code;
  return { code: place, ...(nativeCall !== undefined && { nativeCall: nativeCall.name }) };
}
