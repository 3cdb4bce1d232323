// Under node:test. The four tests that block have to fail: their messages are read from outside.
import { test } from 'node:test';
import * as guard from 'opentelemetry-instrumentation-event-loop/testing';
import { tests } from './tests.cjs';

for (const [name, timeout, run] of tests(guard)) test(name, { timeout }, run);
