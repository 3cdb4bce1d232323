// Under jest. The test that fails has to: its message is read from outside.
const {
  expectNoBlocks,
  recordBlocks,
} = require('opentelemetry-instrumentation-event-loop/testing');
const { renderAtOnce, renderInSteps } = require('./report.cjs');

test('records', async () => {
  const [block, ...others] = await recordBlocks(() => renderAtOnce(200));
  expect(others).toEqual([]);
  expect(block.durationMillis).toBeGreaterThanOrEqual(200);
  expect(block.code).toMatchObject({
    functionName: 'hashRow',
    file: require.resolve('./report.cjs'),
  });
});

test('passes', async () => {
  expect(await expectNoBlocks(() => renderInSteps(300, 20))).toBe('report');
});

test('fails', () => expectNoBlocks(() => renderAtOnce(200), { thresholdMillis: 50 }));
