import { type TracerProvider, trace } from '@opentelemetry/api';
import { SdkShutdown } from '../../src/otel/sdk-shutdown.ts';
import { TracerProvider as SdkTracerProvider } from './support/sdk.ts';

type Provider = TracerProvider & { shutdown(...args: unknown[]): unknown };

const setUp = () => {
  const onShutdown = jest.fn();
  const onFlush = jest.fn();
  const onError = jest.fn();
  const watcher = new SdkShutdown(onShutdown, onFlush, onError);
  return { onShutdown, onFlush, onError, watcher };
};

/** Says in `calls` when it is shut down. */
const fakeProvider = (calls: unknown[] = []): Provider =>
  Object.create({
    getTracer: () => undefined,
    shutdown(this: unknown, ...args: unknown[]) {
      calls.push(this, ...args);
      return 'done';
    },
  });

test("it is called before the SDK's own shutdown, which gets what it was called with", () => {
  const calls: unknown[] = [];
  const provider = fakeProvider(calls);
  const { watcher, onShutdown } = setUp();
  onShutdown.mockImplementation(() => calls.push('watcher'));
  watcher.watch(provider);
  expect(provider.shutdown(1, 2)).toBe('done');
  expect(calls).toEqual(['watcher', provider, 1, 2]);
});

test("the SDK's forceFlush waits for what is under way, and for nothing else", async () => {
  const calls: unknown[] = [];
  const provider = Object.assign(fakeProvider(), {
    forceFlush: async (...args: unknown[]) => void calls.push(...args),
  });
  const { watcher, onFlush, onError } = setUp();
  watcher.watch(provider);
  onFlush.mockReturnValueOnce(undefined);
  const flushed = provider.forceFlush('at once');
  expect(calls).toEqual(['at once']);
  await flushed;

  let setReported = () => {};
  onFlush.mockReturnValueOnce(
    new Promise<void>((resolve) => {
      setReported = resolve;
    }),
  );
  const late = provider.forceFlush('later');
  expect(calls).toEqual(['at once']);
  setReported();
  await late;
  expect(calls).toEqual(['at once', 'later']);
  expect(onError).not.toHaveBeenCalled();
});

test('what it throws is passed on, and the SDK shuts down', () => {
  const provider = fakeProvider();
  const { watcher, onShutdown, onError } = setUp();
  const fault = new Error('ours');
  onShutdown.mockImplementation(() => {
    throw fault;
  });
  watcher.watch(provider);
  expect(provider.shutdown()).toBe('done');
  expect(onError.mock.calls).toEqual([[fault]]);
});

test('the SDK is found behind the global tracer provider, also if it is set later', async () => {
  const { watcher, onShutdown } = setUp();
  try {
    watcher.watch(trace.getTracerProvider());
    const provider = new SdkTracerProvider();
    trace.setGlobalTracerProvider(provider);
    watcher.watch(trace.getTracerProvider());
    await provider.shutdown();
    expect(onShutdown).toHaveBeenCalledTimes(1);
  } finally {
    trace.disable();
  }
});

test('a provider that stands for itself is watched', () => {
  const provider = Object.assign(fakeProvider(), { getDelegate: () => provider });
  const { watcher, onShutdown } = setUp();
  watcher.watch(provider);
  provider.shutdown();
  expect(onShutdown).toHaveBeenCalledTimes(1);
});

test('of two providers, the latest is watched', () => {
  const [first, second] = [fakeProvider(), fakeProvider()];
  const { watcher, onShutdown } = setUp();
  watcher.watch(first);
  watcher.watch(second);
  expect(Object.hasOwn(first, 'shutdown')).toBe(false);
  first.shutdown();
  expect(onShutdown).not.toHaveBeenCalled();
  second.shutdown();
  expect(onShutdown).toHaveBeenCalledTimes(1);
});

test('a provider without shutdown, as without an SDK, is no error', () => {
  const { watcher, onError } = setUp();
  watcher.watch({ getTracer: trace.getTracer });
  watcher.release();
  expect(onError).not.toHaveBeenCalled();
});
