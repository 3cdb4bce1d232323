// Under vitest. The test that fails has to: its message is read from outside.
import { fileURLToPath } from 'node:url';
import { expectNoBlocks, recordBlocks } from 'opentelemetry-instrumentation-event-loop/testing';
import { expect, test } from 'vitest';
import { renderAtOnce, renderInSteps } from './report.cjs';

test('records', async () => {
  const [block, ...others] = await recordBlocks(() => renderAtOnce(200));
  expect(others).toEqual([]);
  expect(block.durationMillis).toBeGreaterThanOrEqual(200);
  expect(block.code).toMatchObject({
    functionName: 'hashRow',
    file: fileURLToPath(import.meta.resolve('./report.cjs')),
  });
});

test('passes', async () => {
  expect(await expectNoBlocks(() => renderInSteps(300, 20))).toBe('report');
});

test('fails', () => expectNoBlocks(() => renderAtOnce(200), { thresholdMillis: 50 }));
