import { AsyncResource } from 'node:async_hooks';
import { type Context, context, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import type { StackSample } from '../../src/block.ts';
import { namedFacts, ongoingReply } from '../../src/core/emit/ongoing-facts.ts';
import { createOriginOf } from '../../src/core/explain/name/in-app.ts';
import { takeResource } from '../../src/core/record/hooks/resource-classes.ts';
import { takeNativeCall } from '../../src/core/record/native/call-stack.ts';
import { Capturer } from '../../src/core/sample/capturer.ts';
import { EPOCH, FakeClock } from './support/fake-clock.ts';

const PARENT = { traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 1 };
const SAMPLED = trace.setSpan(ROOT_CONTEXT, trace.wrapSpanContext(PARENT));
const UNSAMPLED = trace.setSpan(ROOT_CONTEXT, trace.wrapSpanContext({ ...PARENT, traceFlags: 0 }));

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});
afterAll(() => context.disable());

/** One capture in a busy period that began at 1000, 150 ms later. */
function captureIn(
  active: Context,
  busyPeriodStart = 1000,
  mayWait = false,
  { requestedAt = 1148, periodStart = 1000 } = {},
) {
  const clock = new FakeClock();
  clock.run(150);
  const added: StackSample[] = [];
  const ledger = {
    iterations: { busyPeriodStart: periodStart, mayWait: () => mayWait },
    isLatest: (start: number) => start === periodStart,
    wasWaitingAt: () => mayWait,
    add: (sample: StackSample) => added.push(sample),
  };
  const takeRunning = () => ({ asyncId: 0, type: () => 'Timeout', drain: () => undefined });
  const capturer = new Capturer(clock, ledger, takeRunning, () => () => undefined);
  const sample = context.with(active, () => capturer.capture(busyPeriodStart, requestedAt));
  return { sample, added, clock };
}

/** What the watchdog thread is answered then. */
function replyIn(active: Context, requireParentSpan = false) {
  const { sample, clock } = captureIn(active);
  const block = {
    kind: 'callback',
    start: 1010,
    callbacks: 2,
    cpu: 140,
    resourceType: 'Timeout',
  } as const;
  return ongoingReply(sample as StackSample, block, clock, requireParentSpan);
}

test('a sample has the time, the context and the stack of what runs, and is handed on', () => {
  const { sample, added } = captureIn(SAMPLED);
  expect(sample).toMatchObject({
    requestedAt: 1148,
    time: 1150,
    context: SAMPLED,
    resourceType: 'Timeout',
  });
  // Outside a capture, the innermost function is the one that captures.
  expect(sample?.frames[0]).toMatchObject({ functionName: 'Capturer.capture' });
  expect(added).toEqual([sample]);
});

test('nothing of the application is called, neither inside the sample nor when it is read', () => {
  const called: string[] = [];
  class Job extends AsyncResource {
    static override get name() {
      called.push('name of the class');
      return 'Job';
    }
  }
  const { prepareStackTrace } = Error;
  Error.prepareStackTrace = (_error, sites) => {
    called.push('prepareStackTrace');
    return sites;
  };
  try {
    const ledger = {
      iterations: { busyPeriodStart: 1000, mayWait: () => false },
      isLatest: () => true,
      wasWaitingAt: () => false,
      add: () => {},
    };
    const capturer = new Capturer(new FakeClock(), ledger, takeResource, takeNativeCall);
    let calledInside: string[] | undefined;
    const sample = new Job('job').runInAsyncScope(function work() {
      // Hooks of other tests in this process may have asked.
      called.length = 0;
      const taken = capturer.sample(1000);
      calledInside = [...called];
      return taken;
    });
    expect(calledInside).toEqual([]);
    expect(sample.resourceType).toBeUndefined();
    expect(sample.frames.map(({ functionName }) => functionName)).toContain('work');
    expect(called).toEqual([]);
  } finally {
    Error.prepareStackTrace = prepareStackTrace as NonNullable<typeof prepareStackTrace>;
  }
});

test('of another busy period: no sample', () => {
  expect(captureIn(SAMPLED, 123)).toMatchObject({ sample: undefined, added: [] });
});

test('after a wait: what runs without a callback around it', () => {
  const { sample, added } = captureIn(SAMPLED, 1000, true);
  expect(sample).toBeDefined();
  expect(added).toEqual([sample]);
});

describe('the facts of an ongoing block', () => {
  test('say when it began, what runs, and its trace: named in the watchdog thread', () => {
    const { facts, ...reply } = structuredClone(replyIn(SAMPLED));
    expect({ ...reply, facts: namedFacts(facts, createOriginOf()) }).toEqual({
      start: 1010,
      isCodeKnown: true,
      facts: {
        epochMillis: EPOCH,
        startTimeMillis: EPOCH + 1010,
        kind: 'callback',
        callbacks: 2,
        asyncResourceType: 'Timeout',
        code: {
          functionName: 'Capturer.capture',
          functionLine: expect.any(Number),
          functionColumn: expect.any(Number),
          file: expect.stringContaining('capturer.ts'),
          line: expect.any(Number),
          column: expect.any(Number),
          stackTrace: expect.stringContaining('    at Capturer.capture ('),
        },
        parent: PARENT,
        spanUnwanted: false,
        eventUnwanted: false,
        isExpected: false,
      },
    });
  });

  test.each([
    ['an unsampled trace', UNSAMPLED, false],
    ['no parent if one is required', ROOT_CONTEXT, true],
  ])('%s: no span is wanted', (_what, active, requireParentSpan) => {
    expect(replyIn(active, requireParentSpan).facts.spanUnwanted).toBe(true);
  });
});
