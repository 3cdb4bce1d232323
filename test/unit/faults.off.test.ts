import { testFaults } from './support/faults.ts';

/** What runs otherwise without async hooks; the other files have everything else. */
const CLASSES = ['Ledger', 'Tick', 'LagSampler', 'BlockMaker', 'Attribution', 'Session'];

describe("with asyncHooks: 'off', without captures", () =>
  testFaults({ asyncHooks: 'off', captureStack: false }, new Set(CLASSES)));
