import { testFaults } from './support/faults.ts';

describe("with asyncHooks: 'promises'", () => testFaults({ asyncHooks: 'promises' }));
