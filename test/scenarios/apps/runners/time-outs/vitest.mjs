// Under vitest. The four tests that block have to fail: their messages are read from outside.
import * as guard from 'opentelemetry-instrumentation-event-loop/testing';
import { test } from 'vitest';
import { tests } from './tests.cjs';

for (const [name, timeout, run] of tests(guard)) test(name, run, timeout);
