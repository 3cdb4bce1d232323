// Under vitest with its default transform. The test fails: its message is read from outside.
import { expectNoBlocks } from 'opentelemetry-instrumentation-event-loop/testing';
import { test } from 'vitest';
import { hashRow } from './work.mjs';

test('fails', () => expectNoBlocks(() => hashRow(300), { thresholdMillis: 50 }));
