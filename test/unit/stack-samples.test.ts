import { ROOT_CONTEXT } from '@opentelemetry/api';
import { sampledCode } from '../../src/code/blocking-code.ts';
import { StackSamples } from '../../src/loop/stack-samples.ts';
import { stackSample } from './support/stack-sample.ts';

function samplesAt(...at: [number, string?][]) {
  const samples = new StackSamples();
  for (const [time, name] of at)
    samples.add(stackSample(time, ROOT_CONTEXT, name, Math.round(time)));
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
  const samples = new StackSamples();
  for (let i = 0; i < 1000; i++) samples.add(stackSample(i, ROOT_CONTEXT));
  expect(samples.within(0, 1000)).toHaveLength(64);
  samples.clear();
  expect(samples.within(0, 1000)).toEqual([]);
});

describe('who held the loop', () => {
  const seen = (end: number, ...at: [number, string?][]) =>
    sampledCode(samplesAt(...at).within(0, end));

  test('nobody was seen', () => {
    expect(seen(100)).toEqual({ samples: 0 });
    expect(seen(100, [60])).toEqual({ samples: 1 });
  });

  test('one function', () => {
    expect(seen(120, [60, 'hash'], [100, 'hash'])).toEqual({
      samples: 2,
      code: {
        functionName: 'hash',
        file: '/app/hash.js',
        line: 60,
        column: 1,
        stackTrace: '    at hash (/app/hash.js:60:1)',
      },
    });
  });

  test('the one that ran for most of the time, not the one that was captured more often while captures were close', () => {
    const { code, topFunctions } = seen(
      1000,
      [60, 'a'],
      [100, 'a'],
      [140, 'a'],
      [400, 'b'],
      [700, 'b'],
    );
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
