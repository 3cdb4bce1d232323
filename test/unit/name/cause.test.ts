import fc from 'fast-check';
import { type BlockTimes, causeOf } from '../../../src/name/cause.ts';

const cause = (durationMillis: number, more: Omit<BlockTimes, 'durationMillis'> = {}) =>
  causeOf({ durationMillis, ...more });
const times = (cpu: number, gc: number, native: number, gcInNative?: number) => ({
  cpuTimeMillis: cpu,
  gcTimeMillis: gc,
  nativeTimeMillis: native,
  gcInNativeTimeMillis: gcInNative,
});

test.each<[string, number, Omit<BlockTimes, 'durationMillis'>, string]>([
  ['a loop', 200, times(200, 5, 0), 'javascript'],
  ['JSON.parse', 200, times(200, 0, 200), 'native'],
  ['garbage collection', 221, times(220, 209, 212, 209), 'gc'],
  ['execSync', 1000, times(8, 0, 990), 'waiting'],
  ['a thread without a CPU', 113, times(3, 0, 60), 'waiting'],
  ['a loop that allocates', 200, times(200, 90, 0, 0), 'javascript'],
  ['a native call that allocates', 200, times(200, 60, 180, 30), 'native'],
  [
    'a loop with collections that could not be interrupted',
    100,
    times(100, 30, 60, 30),
    'javascript',
  ],
  ['many short reads of files', 300, times(60, 0, 0), 'waiting'],
  ['a loop, and a shorter wait', 100, times(60, 30, 0, 0), 'gc'],
  ['a loop, then a longer native call', 1000, times(1000, 0, 600), 'native'],
  ['a native call, then a longer loop', 1000, times(1000, 0, 400), 'javascript'],
])('%s', (_what, duration, known, expected) => expect(cause(duration, known)).toBe(expected));

describe('on a machine with too little CPU', () => {
  const lacking = (lackedCpuMillis: number, more: ReturnType<typeof times>) => ({
    ...more,
    lackedCpuMillis,
  });
  test.each<[string, number, Omit<BlockTimes, 'durationMillis'>, string | undefined]>([
    ['a loop', 79, lacking(41, times(38, 0, 0)), 'javascript'],
    ['a loop that could not answer', 79, lacking(41, times(38, 0, 41)), 'javascript'],
    ['a native call', 79, lacking(41, times(38, 0, 79)), 'native'],
    ['a loop, although the delay began before it', 79, lacking(200, times(38, 0, 0)), 'javascript'],
    ['a loop that waits for less than half of the time', 79, times(40, 0, 0), 'javascript'],
    ['execSync', 300, lacking(60, times(8, 0, 290)), 'waiting'],
    ['garbage collection', 200, lacking(90, times(110, 100, 200, 100)), 'gc'],
    [
      'a loop, with 8 % of its CPU for collections',
      816,
      lacking(631, times(185, 255, 166)),
      'javascript',
    ],
    ['JSON.parse, with collections', 4000, lacking(3000, times(1000, 1100, 3990)), 'native'],
  ])('%s', (_what, duration, known, expected) => expect(cause(duration, known)).toBe(expected));

  test('without a sample, it is not called waiting', () => {
    expect(cause(79, { cpuTimeMillis: 38, lackedCpuMillis: 41 })).toBeUndefined();
    expect(cause(300, { cpuTimeMillis: 8, lackedCpuMillis: 60 })).toBe('waiting');
  });
});

test('native code between callbacks, after a collection, frees what was collected', () => {
  const isAfterCollection = true;
  expect(cause(66, { ...times(66, 0, 60), isAfterCollection })).toBe('gc');
  expect(cause(66, { ...times(66, 0, 20), isAfterCollection })).toBe('javascript');
  expect(cause(66, { ...times(5, 0, 60), isAfterCollection })).toBe('waiting');
});

test('if no sample found code, what ran was native, however short each call was', () => {
  const isCodeUnknown = true;
  expect(cause(53, { ...times(52, 0, 25), isCodeUnknown })).toBe('native');
  expect(cause(374, { ...times(373, 0, 0), isCodeUnknown })).toBe('native');
  expect(cause(53, { ...times(52, 0, 25), isCodeUnknown, isAfterCollection: true })).toBe('gc');
  expect(cause(53, { ...times(52, 30, 0), isCodeUnknown })).toBe('gc');
});

test('the CPU time of a whole process hides waiting, and never invents it', () => {
  // Another thread used 900 ms meanwhile.
  expect(cause(1000, times(908, 0, 990))).toBe('native');
  expect(cause(1000, times(2400, 0, 990))).toBe('native');
  expect(cause(1000, times(30, 0, 990))).toBe('waiting');
});

test('without CPU time nothing waits', () => {
  expect(cause(1000, { nativeTimeMillis: 900 })).toBe('native');
  expect(cause(1000, { nativeTimeMillis: 0, gcTimeMillis: Number.NaN })).toBe('javascript');
});

test('garbage collection at unknown times counts as time without interruption', () => {
  expect(cause(100, times(100, 45, 60))).toBe('gc');
  expect(cause(100, times(100, 30, 60, 0))).toBe('native');
});

test('without a sample only garbage collection and waiting are known', () => {
  expect(cause(100, { cpuTimeMillis: 100, gcTimeMillis: 51 })).toBe('gc');
  expect(cause(100, { cpuTimeMillis: 49, gcTimeMillis: 0 })).toBe('waiting');
  expect(cause(100, { cpuTimeMillis: 100, gcTimeMillis: 50 })).toBeUndefined();
});

test('a block without a length has no cause', () => {
  expect(cause(0, times(0, 0, 0))).toBeUndefined();
  expect(cause(Number.NaN, times(0, 0, 0))).toBeUndefined();
});

const any = fc.double({ min: -10, max: 2000 });
const known = fc.double({ min: 0, max: 2000, noNaN: true });

test('there is a cause for all that was measured, and more garbage collection stays one', () => {
  fc.assert(
    fc.property(any, any, any, known, (cpu, gc, native, more) => {
      const withGc = (gcTime: number) => ({
        ...times(cpu, gcTime, native),
        gcInNativeTimeMillis: 0,
      });
      const before = cause(1000, withGc(gc));
      expect(['javascript', 'native', 'gc', 'waiting']).toContain(before);
      if (before === 'gc') expect(cause(1000, withGc(gc + more))).toBe('gc');
    }),
  );
});
