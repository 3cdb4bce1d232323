import { ROOT_CONTEXT } from '@opentelemetry/api';
import { StackSamples } from '../../src/core/record/attribution/stack-samples.ts';
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
