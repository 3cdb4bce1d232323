import { LoggerProvider } from '@opentelemetry/sdk-logs';
import { type Logger, LoggerSource } from '../../src/otel/logger.ts';

const GLOBAL = Symbol.for('io.opentelemetry.js.api.logs');

const REGISTRY = Symbol.for('opentelemetry.js.api.1');

/** As `setGlobalLoggerProvider` of any copy of `@opentelemetry/api-logs` does. */
function setGlobal(provider: unknown): void {
  (globalThis as { [GLOBAL]?: unknown })[GLOBAL] = (version: number) =>
    version === 1 ? provider : undefined;
}

/** As api 1.10 does. */
function setInRegistry(provider: unknown): void {
  (globalThis as { [REGISTRY]?: unknown })[REGISTRY] = { version: '1.10.0', logs: provider };
}

afterEach(() => {
  delete (globalThis as { [REGISTRY]?: unknown })[REGISTRY];
  delete (globalThis as { [GLOBAL]?: unknown })[GLOBAL];
});

const source = () => new LoggerSource('name', '1.2.3');

function fakeProvider() {
  const logger: Logger = { emit: jest.fn() };
  return { logger, getLogger: jest.fn(() => logger) };
}

/** What `logs.getLoggerProvider()` returns before there is an SDK. */
const proxy = () => ({ ...fakeProvider(), _setDelegate: jest.fn() });

test('without an SDK for logs there is no logger, also after it was asked to follow the proxy', () => {
  const loggers = source();
  expect(loggers.get()).toBeUndefined();
  loggers.use(proxy());
  expect(loggers.get()).toBeUndefined();
});

test.each([
  ['api-logs', setGlobal],
  ['api 1.10', setInRegistry],
])(
  '%s: a provider that becomes global later is followed, and one that replaces it',
  (_how, setGlobal) => {
    const loggers = source();
    loggers.use(proxy());
    const [first, second] = [fakeProvider(), fakeProvider()];
    setGlobal(first);
    expect(loggers.get()).toBe(first.logger);
    expect(loggers.get()).toBe(first.logger);
    expect(first.getLogger.mock.calls).toEqual([['name', '1.2.3']]);
    loggers.use(first);
    setGlobal(second);
    expect(loggers.get()).toBe(second.logger);
  },
);

test('a provider that was given is used, whichever is global', () => {
  const loggers = source();
  const given = fakeProvider();
  loggers.use(given);
  setGlobal(fakeProvider());
  expect(loggers.get()).toBe(given.logger);
});

test('a logger of the SDK is one', () => {
  const loggers = source();
  const emitted: unknown[] = [];
  const provider = new LoggerProvider({
    processors: [
      {
        onEmit: (record) => void emitted.push(record.eventName),
        forceFlush: async () => {},
        shutdown: async () => {},
      },
    ],
  });
  loggers.use(provider);
  loggers.get()?.emit({ eventName: 'an event' } as never);
  expect(emitted).toEqual(['an event']);
});
