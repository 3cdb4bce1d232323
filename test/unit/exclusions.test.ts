import type { Block } from '../../src/block.ts';
import { Exclusions } from '../../src/exclude/exclusions.ts';
import { RunDelay } from '../../src/exclude/run-delay.ts';
import { createSharedMemory, type SharedMemory } from '../../src/watchdog/shared-memory.ts';
import { noteSuspension } from '../../src/watchdog/suspension-marks.ts';
import { FakeClock } from './support/fake-clock.ts';

const block = (facts: Partial<Block> = {}): Block => ({
  kind: 'callback',
  start: 1000,
  end: 1200,
  callbacks: 1,
  context: undefined,
  resourceType: 'Timeout',
  cpu: 0,
  samples: [],
  isOwnWork: false,
  ...facts,
});

let memory: SharedMemory;
let isWatching: boolean;
const exclusions = (runDelay?: RunDelay) =>
  new Exclusions(100, () => (isWatching ? memory.marks : undefined), new FakeClock(), runDelay);
beforeEach(() => {
  memory = createSharedMemory();
  isWatching = true;
});

test('a block of the application is not excluded, though it uses no CPU', () => {
  expect(exclusions().isExcluded(block())).toBe(false);
});

test('what Node.js does at the end of the process is', () => {
  expect(exclusions().isExcluded(block({ resourceType: 'PROCESS' }))).toBe(true);
});

test('a suspension is, as long as the watchdog thread watches', () => {
  noteSuspension(memory.marks, 1010, 1200);
  expect(exclusions().isExcluded(block())).toBe(true);
  isWatching = false;
  expect(exclusions().isExcluded(block())).toBe(false);
});

test('time without a CPU is, where there is a quota, from start to stop', () => {
  const clock = new FakeClock();
  let delay = 0;
  const runDelay = new RunDelay(clock, () => ({ read: () => `1 ${delay * 1e6} 1`, close() {} }));
  const excluding = exclusions(runDelay);
  excluding.start();
  excluding.sample();
  clock.time = 1200;
  delay = 190;
  expect(excluding.isExcluded(block())).toBe(true);
  excluding.stop();
  expect(excluding.isExcluded(block())).toBe(false);
});
