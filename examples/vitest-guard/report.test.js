import { expectNoBlocks } from 'opentelemetry-instrumentation-event-loop/testing';
import { expect, test } from 'vitest';
import { renderReport } from './report.js';

/** What blocks takes several times as long on a busy machine. */
const PATIENCE = { timeout: 30_000 };

test('a page of a report leaves the event loop alone', PATIENCE, async () => {
  const report = await expectNoBlocks(() => renderReport(100));
  expect(report.split('\n')).toHaveLength(100);
});

test('a whole report does not: this is what the guard says', PATIENCE, async () => {
  await expect(expectNoBlocks(() => renderReport(150_000))).rejects.toThrow(/was blocked/);
});
