import { ROOT_CONTEXT } from '@opentelemetry/api';
import { Samples } from '../../src/capture/samples.ts';
import { seenCode } from '../../src/report/blocking-code.ts';

const sampleAt = (time: number, functionName?: string) => ({
  time,
  context: ROOT_CONTEXT,
  resourceType: undefined,
  culprit:
    functionName === undefined
      ? undefined
      : { functionName, file: '/app/a.js', line: Math.round(time), column: 1 },
  stackTrace: `    at ${functionName} (/app/a.js:${time}:1)`,
});
function samplesAt(...at: [number, string?][]) {
  const samples = new Samples();
  for (const [time, name] of at) samples.add(sampleAt(time, name));
  return samples;
}

test('each sample stands for what is nearest to it, and all of them for all of the block', () => {
  const weights = samplesAt([60], [100], [180])
    .within(0, 200)
    .map(({ weight }) => weight);
  expect(weights).toEqual([80, 60, 60]);
});

test('only samples inside the block count', () => {
  expect(samplesAt([60], [100], [180]).within(90, 170)).toMatchObject([{ time: 100, weight: 80 }]);
  expect(samplesAt([60]).within(61, 100)).toEqual([]);
});

test('no more than some are kept', () => {
  const samples = new Samples();
  for (let i = 0; i < 1000; i++) samples.add(sampleAt(i));
  expect(samples.within(0, 1000)).toHaveLength(64);
  samples.clear();
  expect(samples.within(0, 1000)).toEqual([]);
});

describe('the blocking function', () => {
  const seen = (end: number, ...at: [number, string?][]) => seenCode(samplesAt(...at).within(0, end));

  test('no stack sample: none', () => {
    expect(seen(100)).toEqual({ samples: 0 });
    expect(seen(100, [60])).toEqual({ samples: 1 });
  });

  test('one function', () => {
    expect(seen(120, [60, 'hash'], [100, 'hash'])).toEqual({
      samples: 2,
      code: {
        functionName: 'hash',
        file: '/app/a.js',
        line: 60,
        column: 1,
        stackTrace: '    at hash (/app/a.js:60:1)',
      },
    });
  });

  test('the one that ran for most of the time, not the one that was captured more often while captures were close', () => {
    const { code, topFunctions } = seen(1000, [60, 'a'], [100, 'a'], [140, 'a'], [400, 'b'], [700, 'b']);
    expect(code?.functionName).toBe('b');
    expect(topFunctions).toEqual([
      { functionName: 'b', share: 0.73 },
      { functionName: 'a', share: 0.27 },
    ]);
  });

  test('shares need three captures', () => {
    expect(seen(120, [60, 'a'], [100, 'b']).topFunctions).toBeUndefined();
  });
});
