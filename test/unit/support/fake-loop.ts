import { type Context, createContextKey, ROOT_CONTEXT, type Span, trace } from '@opentelemetry/api';
import type { Block, StackSample } from '../../../src/block.ts';
import { Ledger } from '../../../src/core/record/ledger.ts';
import type { RunningCode } from '../../../src/core/record/running-code.ts';
import { SharedMemory } from '../../../src/core/sample/shared-memory.ts';
import { FakeClock } from './fake-clock.ts';
import { stackSample } from './stack-sample.ts';

const NAME = createContextKey('name');
let spans = 0;

/** A span of {@link contextOf}, and what the SDK would know of it. */
export interface FakeSpan extends Span {
  startEpoch?: number;
  endEpoch?: number;
  parent?: Span | undefined;
}

export const fakeSpanOf = (context: Context) => trace.getSpan(context) as FakeSpan;

/** As an SDK knows it. */
export const spanFacts = {
  startOf: (span: Span) => (span as FakeSpan).startEpoch ?? Number.NaN,
  endOf: (span: Span) => (span as FakeSpan).endEpoch ?? Number.NaN,
  parentOf: (span: Span) => (span as FakeSpan).parent,
  callsTo: () => [],
};

/** A context with a span of its own. */
export function contextOf(name: string, startEpoch?: number): Context {
  const spanId = (++spans).toString(16).padStart(16, '0');
  const span = trace.wrapSpanContext({
    traceId: spanId.padStart(32, '0'),
    spanId,
    traceFlags: 1,
  }) as FakeSpan;
  if (startEpoch !== undefined) span.startEpoch = startEpoch;
  return trace.setSpan(ROOT_CONTEXT.setValue(NAME, name), span);
}

export const nameOf = (context: Context | undefined) =>
  context?.getValue(NAME) as string | undefined;

type Kind = 'callback' | 'tick' | 'reaction';

const drainOf = (kind: Kind) => (kind === 'callback' ? undefined : kind);

/** A ledger on a fake clock, driven by what the loop does. */
export class FakeLoop {
  readonly clock = new FakeClock();
  readonly blocks: Block[] = [];
  readonly ledger: Ledger;
  /** Shared with a watchdog, if there were one. */
  readonly memory = new SharedMemory();
  active: Context = ROOT_CONTEXT;
  resourceType: string | undefined = 'Timeout';
  /** Whether what has reached the threshold is a block, or would not be but for a suspension. */
  isBlock = (_block: Block): boolean => true;
  /** What the kernel has counted. */
  threadTimes: NonNullable<RunningCode['threadTimes']> = () => undefined;
  #kind: Kind = 'callback';
  #asyncId = 0;
  #asyncIds = 100;
  #interrupted: StackSample[] = [];
  #isDraining = false;

  /** @param isHooked whether async hooks are on */
  constructor(
    readonly threshold = 100,
    private readonly isHooked = true,
    beatMillis = 20,
  ) {
    const code = {
      context: () => this.active,
      active: () => this.active,
      resourceType: () => this.resourceType,
      drain: () => drainOf(this.#kind),
      spans: spanFacts,
      threadTimes: (start: number, end: number) => this.threadTimes(start, end),
    };
    const onBlock = (block: Block) => {
      const isBlock = this.isBlock(block);
      if (isBlock) this.blocks.push(block);
      return isBlock;
    };
    const times = { thresholdMillis: threshold, beatMillis };
    this.ledger = new Ledger(times, this.clock, code, onBlock, this.memory);
  }

  /** Startup is over, and the loop has waited for 10 ms. */
  primed(): this {
    return this.ownTick().nextIteration(10);
  }

  /** Runs `body` (milliseconds, or what happens) as a callback in `context`. */
  outermost(kind: Kind, body: number | (() => void), context: Context = ROOT_CONTEXT): this {
    if (kind === 'callback') this.#endDrain();
    const before = [this.active, this.#kind, this.#asyncId] as const;
    this.active = context;
    this.#kind = kind;
    this.#asyncId = ++this.#asyncIds;
    if (this.isHooked) this.ledger.enter();
    if (typeof body === 'number') this.clock.run(body);
    else body();
    if (this.isHooked) this.ledger.leave();
    [this.active, this.#kind, this.#asyncId] = before;
    // A reaction of the stack sample's promise.
    if (this.#asyncId === 0) this.#returned();
    return this;
  }

  #returned(): void {
    const samples = this.#interrupted;
    if (samples.length === 0) return;
    this.#interrupted = [];
    this.ledger.ended(samples, this.clock.now());
    this.#isDraining = samples.at(-1)?.drain !== undefined;
  }

  #endDrain(): void {
    if (this.#isDraining) this.ledger.drained(this.clock.now());
    this.#isDraining = false;
  }

  /** The tick of an iteration. */
  ownTick(): this {
    this.#endDrain();
    if (this.isHooked) this.ledger.enter();
    this.ledger.tick();
    if (this.isHooked) this.ledger.leave();
    return this;
  }

  /** A stack sample of what runs. */
  sample(context: Context, functionName?: string): this {
    const sample: StackSample = {
      ...stackSample(this.clock.now(), context, functionName),
      asyncId: this.#asyncId,
      drain: this.#asyncId === 0 ? 'reaction' : drainOf(this.#kind),
    };
    this.ledger.add(sample);
    this.#interrupted.push(sample);
    return this;
  }
  callback(body: number | (() => void), context?: Context): this {
    return this.outermost('callback', body, context);
  }
  tick(body: number | (() => void), context?: Context): this {
    return this.outermost('tick', body, context);
  }
  reaction(body: number | (() => void), context?: Context): this {
    return this.outermost('reaction', body, context);
  }
  /** `body` inside the context manager's `with`. */
  scope(context: Context, body: number | (() => void)): this {
    const { voted } = this.ledger;
    const start = this.clock.now();
    const before = this.active;
    this.active = context;
    if (typeof body === 'number') this.clock.run(body);
    else body();
    this.active = before;
    this.ledger.scope(context, start, voted);
    return this;
  }
  /** What ran is over: the tick, and then the loop waits. */
  nextIteration(waitMillis = 0): this {
    this.ownTick();
    this.clock.turn();
    if (waitMillis > 0) this.clock.wait(waitMillis);
    return this;
  }
  /** What was open is closed. */
  settle(): Block[] {
    this.nextIteration(5).ownTick();
    return this.blocks;
  }
}

/** A block in short: its kind, length, callbacks and the name of its context. */
export const summary = ({ kind, start, end, callbacks, context }: Block) => ({
  kind,
  length: end - start,
  callbacks,
  context: nameOf(context),
});
