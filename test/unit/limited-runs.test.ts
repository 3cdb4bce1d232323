import { runInContext, runInNewContext, runInThisContext, Script } from 'node:vm';
import { limitedRuns, type RunLimited } from '../../src/core/sample/limited-runs.ts';

const prototype = Object.getPrototypeOf(Script.prototype);
const own = Object.getOwnPropertyDescriptor(prototype, 'runInContext');
const run: jest.MockedFunction<RunLimited> = jest.fn((code) => code());

beforeEach(() => {
  run.mockClear();
  limitedRuns.start(run);
});
afterEach(() => limitedRuns.stop(run));

test.each([
  ['nothing', {}, 0],
  ['a timeout', { timeout: 50_000 }, 2],
  ['a signal', { breakOnSigint: true }, 2],
  ['both', { timeout: 50_000, breakOnSigint: true }, 2],
])('code that %s may end', (_, options, expected) => {
  expect(runInNewContext('n + 1', { n: 1 }, options)).toBe(2);
  expect(runInThisContext('2', options)).toBe(2);
  expect(run).toHaveBeenCalledTimes(expected);
});

test('`vm` is as before afterwards', () => {
  limitedRuns.stop(run);
  expect(Object.getOwnPropertyDescriptor(prototype, 'runInContext')).toEqual(own);
  expect(runInContext.name).toBe('runInContext');
});
