import { testFaults } from './support/faults.ts';

// Two files run side by side.
const isWanted = (className: string) => className.charCodeAt(className.length - 2) % 2 === 0;

describe("with asyncHooks: 'promises'", () => testFaults({ asyncHooks: 'promises' }, { isWanted }));
