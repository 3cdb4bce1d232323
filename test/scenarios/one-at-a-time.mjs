/**
 * Scenarios about lengths, stack samples, and how long a process takes to end: two of them at the
 * same time would wait for each other. With less CPU, what many requests do by themselves piles up.
 */
const ONE_AT_A_TIME = [
  'blockers',
  'capture',
  'idle',
  'incidents',
  'interrupted',
  'lag',
  'loop-profile',
  'native-calls',
  'overload',
  'smoke',
  'stalled-spans',
  'suspensions',
  'worker-threads',
];

const ALONE = `/scenarios/(?:${ONE_AT_A_TIME.join('|')})\\.test\\.ts$`;

/**
 * What jest is given to run only those tests that run one at a time, or only the others, as many at
 * a time as there are CPUs.
 */
export const jestOptions = {
  alone: ['--maxWorkers=1', '--testPathIgnorePatterns', `^(?!.*${ALONE})`],
  together: ['--testPathIgnorePatterns', ALONE],
};
