import { type Context, createContextKey, ROOT_CONTEXT, type Span, trace } from '@opentelemetry/api';
import type { Block } from '../../../src/block.ts';
import {
  CALLBACK,
  type CallbackClass,
  MESSAGE,
  OWN,
  REACTION,
  RESOURCE_SCOPE,
  TICK,
} from '../../../src/detect/callbacks.ts';
import { Ledger } from '../../../src/detect/ledger.ts';
import type { RunningCode } from '../../../src/detect/running-code.ts';
import { SharedMemory } from '../../../src/sample/shared-memory.ts';
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
  /** What happens when the ledger asks for the context. */
  onContext = (): void => {};

  /** @param isHooked whether async hooks are on from the start */
  constructor(
    readonly threshold = 100,
    private isHooked = true,
    beatMillis = 20,
  ) {
    const code = {
      context: () => {
        this.onContext();
        return this.active;
      },
      active: () => this.active,
      resourceType: () => this.resourceType,
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
    if (isHooked) this.ledger.arm(false);
  }

  /** Startup is over: the first callback has come, 1 ms ago. */
  primed(): this {
    this.callback(1);
    return this.nextIteration(10);
  }

  /** Runs `body` (milliseconds, or what happens) as a callback in `context`. */
  outermost(
    kind: CallbackClass,
    body: number | (() => void),
    context: Context = ROOT_CONTEXT,
    asyncId = 1,
  ): this {
    const before = this.active;
    this.active = context;
    if (this.isHooked) this.#before(kind, asyncId);
    if (typeof body === 'number') this.clock.run(body);
    else body();
    if (this.isHooked) this.#after(kind);
    this.active = before;
    return this;
  }
  #before(kind: CallbackClass, asyncId: number): void {
    if (this.ledger.stack.enter()) this.ledger.before(kind, asyncId);
    else this.ledger.beforeNested();
  }
  #after(kind: CallbackClass): void {
    const depth = this.ledger.stack.leave();
    if (depth > 0) this.ledger.afterNested(depth);
    else if (this.ledger.isUnknown) this.ledger.afterUnknown(kind);
    else if (depth === 0) this.ledger.after();
  }
  /** Hooks are armed, in the middle of what runs. */
  arm(isInCallback = true, isPrompt = false, knownSince?: number): this {
    this.isHooked = true;
    this.ledger.arm(isInCallback, isPrompt, knownSince);
    return this;
  }
  /** The tick of an iteration; without `keepHooks`, hooks are switched off. */
  ownTick(keepHooks = true): this {
    if (this.isHooked) this.#before(OWN, 1);
    this.ledger.tick();
    if (this.isHooked && !keepHooks) {
      this.isHooked = false;
      this.ledger.disarm();
    }
    if (this.isHooked) this.#after(OWN);
    return this;
  }
  /** A stack sample of what runs. */
  sample(context: Context, functionName?: string): this {
    this.ledger.add(stackSample(this.clock.now(), context, functionName));
    return this;
  }
  callback(body: number | (() => void), context?: Context): this {
    return this.outermost(CALLBACK, body, context);
  }
  /** A callback of an HTTP server's parser. */
  message(parser: number, body: number | (() => void), context?: Context): this {
    return this.outermost(MESSAGE, body, context, parser);
  }
  tick(body: number | (() => void), context?: Context): this {
    return this.outermost(TICK, body, context);
  }
  /** A promise reaction with promise hooks. */
  reaction(body: number | (() => void), context?: Context): this {
    return this.outermost(REACTION, body, context);
  }
  /** An AsyncResource, entered from what runs. */
  resource(body: number | (() => void), context?: Context): this {
    return this.outermost(RESOURCE_SCOPE, body, context);
  }
  /** Promise reactions without promise hooks. */
  withoutHooks(millis: number): this {
    this.clock.run(millis);
    return this;
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
  nextIteration(waitMillis = 0): this {
    this.clock.turn();
    if (waitMillis > 0) this.clock.wait(waitMillis);
    return this;
  }
  /** An empty callback in the next iteration: what was open is closed. */
  settle(): Block[] {
    this.nextIteration(5).callback(0);
    return this.blocks;
  }
}

/**
 * A block in short: its kind, length, callbacks and the name of the context that it is attributed
 * to.
 */
export const summary = ({ kind, start, end, callbacks, context }: Block) => ({
  kind,
  length: end - start,
  callbacks,
  context: nameOf(context),
});
