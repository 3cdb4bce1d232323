// Under vitest with its default transform. The test fails: its message is read from outside.
import { expectNoBlocks } from 'opentelemetry-instrumentation-event-loop/testing';
import { expect, test } from 'vitest';
import { hashRow } from './work.mjs';

test('fails', () => expectNoBlocks(() => hashRow(300), { thresholdMillis: 50 }));

const baseline = process.env.RUNNER_BASELINE;
test.each(Array.from({ length: 20 }, (_, i) => i))('baseline %i', async () => {
  const render = () => hashRow(150);
  expect(
    await expectNoBlocks(render, { baseline, name: 'rows', thresholdMillis: 75 }),
  ).toBeTruthy();
});
