import { type Context, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import type { StackSample } from '../../../src/block.ts';
import type { Operation } from '../../../src/otel/operation.ts';
import { EntryOperation } from '../../../src/profile/entry-operation.ts';
import { LoopProfiler } from '../../../src/profile/loop-profiler.ts';
import { BARE, IDLE, TAKEN } from '../../../src/sample/protocol.ts';
import { frame } from '../name/support/stacks.ts';
import { FakeClock } from '../support/fake-clock.ts';

interface FakeSpan {
  name: string;
  attributes: Record<string, string>;
  ended: boolean;
  endTime: [number, number];
}

const spanNamed = (name: string): FakeSpan & { spanContext(): object } => ({
  name,
  attributes: {},
  ended: false,
  endTime: [1, 0],
  spanContext: () => ({ traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 1 }),
});

const contextOf = (span: object): Context => trace.setSpan(ROOT_CONTEXT, span as never);

/** A profiler on a fake clock; `name` is what the stack of a sample would be named by. */
class Fake {
  readonly clock = new FakeClock();
  readonly counted: { millis: number; name: string | undefined; operation: Operation }[] = [];
  readonly toBlock: StackSample[] = [];
  name = 'render';
  context: Context = ROOT_CONTEXT;
  waited: boolean | undefined = false;
  taskStart = 0;
  frames: StackSample['frames'] = [{} as never];
  readonly profiler = new LoopProfiler(this.clock, {
    sample: (requestedAt) => ({
      requestedAt,
      time: this.clock.now(),
      context: this.context,
      resourceType: undefined,
      frames: this.frames,
      showsCode: () => this.frames.some(({ file }) => !file?.startsWith('node:')),
    }),
    wasWaitingAt: () => this.waited,
    taskStart: () => this.taskStart,
    addToBlock: (sample) => this.toBlock.push(sample),
    entryOf: (context) => new EntryOperation(context, () => undefined),
    describe: ({ samples }, done) => {
      const { name } = this;
      const isKnown = (samples[0]?.frames.length ?? 0) > 0;
      done({
        samples: 1,
        ...(isKnown && { code: { functionName: name, file: '/app/a.js', stackTrace: 'long' } }),
      });
    },
    count: (millis, code, operation) =>
      this.counted.push({ millis, name: code?.functionName, operation }),
  });

  /** Asked so many milliseconds ago. */
  answer(millis = 0, intervalMillis = 1000) {
    return this.profiler.answer(this.clock.now() - millis, intervalMillis);
  }

  /** Asked again, so many milliseconds ago. */
  repeat(millis = 0) {
    return this.profiler.answer(this.clock.now() - millis, 1000, true);
  }

  beat(): void {
    this.profiler.beat(this.clock.now(), this.clock.idle());
    this.profiler.work(this.clock.now());
  }
}

describe('between two promise reactions', () => {
  test('in another task, or in a wait, nothing is found: nobody had the moment', () => {
    const fake = new Fake();
    const code = fake.frames;
    const expectNobody = () => {
      expect(fake.repeat()).toBe(IDLE);
      fake.beat();
      expect(fake.counted).toEqual([{ millis: 1000, name: undefined, operation: {} }]);
      fake.counted.length = 0;
    };
    for (const change of [
      () => {
        fake.taskStart = fake.clock.now() + 1;
        fake.frames = code;
      },
      () => {
        fake.waited = true;
      },
    ]) {
      fake.frames = [];
      expect(fake.answer()).toBe(BARE);
      change();
      expectNobody();
      fake.taskStart = 0;
    }
  });

  test('native code that keeps a repeat waiting counts by itself, and for its block', () => {
    const fake = new Fake();
    const code = fake.frames;
    fake.frames = [];
    expect(fake.answer()).toBe(BARE);
    fake.clock.run(200);
    expect(fake.repeat(200)).toBe(BARE);
    expect(fake.toBlock).toMatchObject([{ requestedAt: fake.clock.now() - 200, frames: [] }]);
    fake.frames = code;
    expect(fake.repeat()).toBe(TAKEN);
    fake.beat();
    expect(fake.counted).toEqual([
      { millis: 200, name: undefined, operation: {} },
      { millis: 1000, name: 'render', operation: {} },
    ]);
  });

  test('other code of Node.js is no such moment', () => {
    const fake = new Fake();
    fake.frames = [frame('onStreamRead', 'node:internal/stream_base_commons')];
    expect(fake.answer()).toBe(TAKEN);
  });
});

test('native code that keeps the answer counts for the moments that would have come', () => {
  const fake = new Fake();
  fake.clock.run(5000);
  fake.answer(2500);
  fake.beat();
  expect(fake.counted).toEqual([{ millis: 3500, name: 'render', operation: {} }]);
  expect(fake.toBlock).toHaveLength(1);
});

test('so does a stack sample of a block that came late; one that came at once does not', () => {
  const fake = new Fake();
  fake.clock.run(5000);
  const sample = {
    time: 5000,
    context: ROOT_CONTEXT,
    resourceType: undefined,
    frames: fake.frames,
  };
  fake.profiler.addBlockSample({ ...sample, requestedAt: 4999 }, 1000);
  fake.profiler.addBlockSample({ ...sample, requestedAt: 4000 }, 1000);
  fake.profiler.addBlockSample({ ...sample, requestedAt: 4000 }, 0);
  fake.beat();
  expect(fake.counted.map(({ millis }) => millis)).toEqual([1000]);
});

describe('the operation', () => {
  test('is read when the entry span has ended: a framework may set the route late', () => {
    const fake = new Fake();
    const span = spanNamed('GET');
    fake.context = contextOf(span);
    fake.answer();
    fake.beat();
    expect(fake.counted).toEqual([]);
    span.attributes = { 'http.route': '/list', 'http.request.method': 'GET' };
    span.ended = true;
    fake.beat();
    expect(fake.counted[0]?.operation).toEqual({ httpRoute: '/list', name: 'GET /list' });
  });

  test('flush counts everything at once', () => {
    const fake = new Fake();
    fake.context = contextOf(spanNamed('consume orders'));
    fake.answer();
    fake.profiler.report();
    expect(fake.counted).toHaveLength(1);
    expect(fake.profiler.hasSamples).toBe(false);
  });

  test('of a trace that is not sampled is the route in the context', () => {
    const span = { spanContext: spanNamed('').spanContext };
    const key = Symbol.for('OpenTelemetry SDK Context Key RPC_METADATA');
    const context = contextOf(span).setValue(key, { route: '/list', span });
    const entry = new EntryOperation(context, () => undefined);
    expect(entry.read()).toEqual({ httpRoute: '/list', name: '/list' });
  });

  test('of GraphQL is the operation, beside the route', () => {
    const entry = spanNamed('POST');
    entry.attributes = { 'http.route': '/graphql', 'http.request.method': 'POST' };
    const query = spanNamed('query Orders');
    query.attributes = { 'graphql.operation.type': 'query' };
    const operation = new EntryOperation(contextOf(query), (span) =>
      (span as object) === query ? (entry as never) : undefined,
    );
    expect(operation.read()).toEqual({ httpRoute: '/graphql', name: 'query Orders' });
  });
});

describe('what is read', () => {
  test('shares of the busy time, the largest first, without stack traces', () => {
    const fake = new Fake();
    fake.beat();
    fake.clock.run(6000);
    for (const name of ['render', 'parse', 'render', 'render']) {
      fake.name = name;
      fake.answer();
      fake.beat();
    }
    fake.clock.wait(4000);
    const profile = fake.profiler.read();
    expect(profile).toEqual({
      elapsedMillis: 10_000,
      utilization: 0.6,
      samples: 4,
      functions: [
        { functionName: 'render', file: '/app/a.js', share: 0.75 },
        { functionName: 'parse', file: '/app/a.js', share: 0.25 },
      ],
      operations: [{ share: 1 }],
    });
  });

  test('memory is bounded', () => {
    const fake = new Fake();
    fake.beat();
    for (let i = 0; i < 5000; i++) {
      fake.name = `f${i}`;
      fake.answer();
      fake.beat();
    }
    const { samples, functions } = fake.profiler.read();
    expect(samples).toBeLessThanOrEqual(2048);
    expect(functions).toHaveLength(50);
  });
});
