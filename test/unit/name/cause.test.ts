import fc from 'fast-check';
import { type BlockTimes, causeOf } from '../../../src/core/explain/name/cause.ts';

const cause = (durationMillis: number, more: Omit<BlockTimes, 'durationMillis'> = {}) =>
  causeOf({ durationMillis, ...more });
const times = (cpu: number, gc: number, native: number, gcInNative?: number) => ({
  cpuTimeMillis: cpu,
  gcTimeMillis: gc,
  nativeTimeMillis: native,
  gcInNativeTimeMillis: gcInNative,
});

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
    ['a loop, in which a collection waited', 2700, lacking(2240, times(112, 350, 0)), 'javascript'],
    ['garbage collection', 200, lacking(90, times(110, 100, 200, 100)), 'gc'],
    [
      'a loop, with 8 % of its CPU for collections',
      816,
      lacking(631, times(185, 255, 166)),
      'javascript',
    ],
    ['a loop, with 40 % of its CPU for collections', 200, times(200, 80, 50, 0), 'javascript'],
    ['JSON.parse, with collections', 4000, lacking(3000, times(1000, 1100, 3990)), 'native'],
  ])('%s', (_what, duration, known, expected) => expect(cause(duration, known)).toBe(expected));

  test('without a sample, it is not called waiting', () => {
    expect(cause(79, { cpuTimeMillis: 38, lackedCpuMillis: 41 })).toBeUndefined();
    expect(cause(300, { cpuTimeMillis: 8, lackedCpuMillis: 60 })).toBe('waiting');
  });
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
