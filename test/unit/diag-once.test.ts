import { diag } from '@opentelemetry/api';
import { OnceLogger } from '../../src/otel/diag-once.ts';
import { captureDiag } from './support/capturing-logger.ts';

afterEach(() => diag.disable());

test('what is said before there is a logger is said when there is one, in order and once', () => {
  const log = new OnceLogger();
  log.log('warn', 'first');
  log.log('info', 'second');
  log.log('warn', 'first');
  log.catchUp();
  const said = captureDiag();
  log.catchUp();
  log.catchUp();
  expect(said).toEqual(['warn: first', 'info: second']);
});

test('what was not heard yet is said before the next', () => {
  const log = new OnceLogger();
  log.log('warn', 'first');
  const said = captureDiag();
  log.log('warn', 'second');
  expect(said).toEqual(['warn: first', 'warn: second']);
});

test('a logger that throws does no harm, and other messages are logged', () => {
  const said: string[] = [];
  const log = new OnceLogger();
  log.log('warn', 'first');
  log.log('warn', 'second');
  diag.setLogger({
    ...console,
    verbose: () => {},
    warn: (_namespace: string, message: unknown) => {
      said.push(String(message));
      throw new Error('a logger that throws');
    },
  });
  expect(() => log.catchUp()).not.toThrow();
  expect(said).toEqual(['first', 'second']);
});

test('a host whose own methods throw does no harm', () => {
  captureDiag();
  const log = new OnceLogger();
  const patched = [
    jest.spyOn(Set.prototype, 'add'),
    jest.spyOn(Array.prototype, 'push'),
    jest.spyOn(Array.prototype, 'includes'),
    jest.spyOn(Array.prototype, 'splice'),
  ].map((method) =>
    method.mockImplementation(() => {
      throw new Error('patched');
    }),
  );
  let thrown: unknown;
  try {
    log.log('warn', 'trouble');
    log.catchUp();
  } catch (error) {
    thrown = error;
  } finally {
    for (const method of patched) method.mockRestore();
  }
  expect(thrown).toBeUndefined();
});

test('what fails in the middle of the application is said at the next opportunity, and not there', () => {
  const said = captureDiag();
  const log = new OnceLogger();
  log.later.log('error', 'cannot count');
  log.faults.inHook ??= new Error('first');
  log.faults.inSample ??= new RangeError('no stack left');
  expect(said).toEqual([]);
  log.catchUp();
  log.faults.inHook ??= new Error('second');
  log.catchUp();
  expect(said).toEqual([
    'error: cannot count',
    'error: internal error; detection continues',
    'warn: a stack sample was lost',
  ]);
});
