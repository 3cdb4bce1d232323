import { OnceLogger } from '../../src/otel/diag-once.ts';
import { attempt, Guard } from '../../src/support/guard.ts';
import { captureDiag } from './support/capturing-logger.ts';

const broken = () => {
  throw new Error('broken');
};

test('passes on what the action returns', () => {
  expect(attempt(() => 42)).toBe(42);
  expect(new Guard(new OnceLogger()).run('cannot', () => 42)).toBe(42);
});

test('what the action throws is logged once for each message', () => {
  const logged = captureDiag();
  const guard = new Guard(new OnceLogger());
  expect(guard.run('cannot count', broken)).toBeUndefined();
  guard.run('cannot count', broken);
  guard.run('cannot report', broken);
  expect(logged).toEqual(['error: cannot count', 'error: cannot report']);
});

test('an attempt passes on the error, or drops it', () => {
  const onError = jest.fn();
  expect(attempt(broken, onError)).toBeUndefined();
  expect(onError.mock.calls).toEqual([[new Error('broken')]]);
  expect(attempt(broken)).toBeUndefined();
});
