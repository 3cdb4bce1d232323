import { halves, testFaults } from './support/faults.ts';

describe("with asyncHooks: 'promises'", () => testFaults({ asyncHooks: 'promises' }, halves()[1]));
