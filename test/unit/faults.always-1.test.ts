import { halves, testFaults } from './support/faults.ts';

describe("with asyncHooks: 'always'", () => testFaults({ asyncHooks: 'always' }, halves()[0]));
