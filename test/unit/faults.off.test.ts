import { testFaults } from './support/faults.ts';

// Each watchdog thread takes some 30 ms to start: the other file has them.
describe("with asyncHooks: 'off', without captures", () =>
  testFaults({ asyncHooks: 'off', captureStack: false }, ['Capturer', 'Pulse', 'Watchdog']));
