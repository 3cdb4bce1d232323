import { runInContext, runInNewContext, runInThisContext, Script } from 'node:vm';
import { limitedRuns, type RunLimited } from '../../src/sample/limited-runs.ts';

const prototype = Object.getPrototypeOf(Script.prototype);
const own = Object.getOwnPropertyDescriptor(prototype, 'runInContext');
const timeouts: number[] = [];
const run: RunLimited = (timeout, code) => {
  timeouts.push(timeout);
  return code();
};

beforeEach(() => {
  timeouts.length = 0;
  limitedRuns.start(run);
});
afterEach(() => limitedRuns.stop(run));

test.each([
  ['nothing', {}, []],
  ['a timeout', { timeout: 50_000 }, [50_000]],
  ['a signal', { breakOnSigint: true }, [Number.POSITIVE_INFINITY]],
  ['both', { timeout: 50_000, breakOnSigint: true }, [50_000]],
])('code that %s may end', (_, options, expected) => {
  expect(runInNewContext('n + 1', { n: 1 }, options)).toBe(2);
  expect(runInThisContext('2', options)).toBe(2);
  expect(timeouts).toEqual([...expected, ...expected]);
});

test('`vm` is as before afterwards', () => {
  limitedRuns.stop(run);
  expect(Object.getOwnPropertyDescriptor(prototype, 'runInContext')).toEqual(own);
  expect(runInContext.name).toBe('runInContext');
});
