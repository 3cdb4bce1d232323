import { expectNoBlocks } from 'opentelemetry-instrumentation-event-loop/testing';
import { expect, test } from 'vitest';
import { renderReport } from './report.js';

test('a page of a report leaves the event loop alone', async () => {
  const report = await expectNoBlocks(() => renderReport(100));
  expect(report.split('\n')).toHaveLength(100);
});

test('a whole report does not: this is what the guard says', async () => {
  await expect(expectNoBlocks(() => renderReport(300_000))).rejects.toThrow(/blocked once/);
});
