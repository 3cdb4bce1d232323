import { type Context, context, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { Capturer } from '../../src/capture/capturer.ts';
import { Mark } from '../../src/capture/shared-memory.ts';
import type { CaptureReply } from '../../src/capture/watchdog-protocol.ts';
import { EPOCH } from './support/fake-clock.ts';
import { FakeLoop } from './support/fake-loop.ts';

const PARENT = { traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 1 };
const SAMPLED = trace.setSpan(ROOT_CONTEXT, trace.wrapSpanContext(PARENT));
const UNSAMPLED = trace.setSpan(ROOT_CONTEXT, trace.wrapSpanContext({ ...PARENT, traceFlags: 0 }));

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});
afterAll(() => context.disable());

/** One capture in the middle of a callback that has run for 150 ms. */
function captureIn(active: Context, requireParentSpan = false) {
  const loop = new FakeLoop(100).primed();
  const capturer = new Capturer(loop.ledger, loop.clock, requireParentSpan);
  let reply: CaptureReply | undefined;
  let start = 0;
  loop.callback(() => {
    start = loop.clock.now();
    loop.clock.run(150);
    reply = context.with(active, () =>
      capturer.capture(loop.marks[Mark.stretchStart] as number, loop.clock.now()),
    );
  });
  return { reply, start, blocks: loop.settle() };
}

test('replies with what is known of the block so far, and the function that runs', () => {
  const { reply, start, blocks } = captureIn(SAMPLED);
  expect(reply).toMatchObject({
    ...PARENT,
    start,
    startTimeMillis: EPOCH + start,
    // Outside a capture, the innermost function is the one that captures.
    functionName: 'Capturer.capture',
    file: expect.stringContaining('capturer.ts'),
    spanUnwanted: false,
    block: { kind: 'callback', callbacks: 1 },
  });
  expect(blocks[0]?.samples).toMatchObject([
    { context: SAMPLED, culprit: { functionName: 'Capturer.capture' } },
  ]);
});

test.each([
  ['an unsampled trace', UNSAMPLED, false],
  ['no parent where one is required', ROOT_CONTEXT, true],
])('%s: no span is wanted', (_what, active, requireParentSpan) => {
  expect(captureIn(active, requireParentSpan).reply?.spanUnwanted).toBe(true);
});

test('another busy period: no stack sample', () => {
  const loop = new FakeLoop(100).primed();
  expect(new Capturer(loop.ledger, loop.clock, false).capture(123, 0)).toBeUndefined();
});

test('no regular expression runs: it may be in the middle of one of the host', () => {
  const exec = jest.spyOn(RegExp.prototype, 'exec');
  try {
    captureIn(SAMPLED);
    captureIn(UNSAMPLED);
    captureIn(ROOT_CONTEXT, true);
    expect(exec).not.toHaveBeenCalled();
    'seen by the spy'.replace(/spy/, '');
    expect(exec).toHaveBeenCalled();
  } finally {
    exec.mockRestore();
  }
});
