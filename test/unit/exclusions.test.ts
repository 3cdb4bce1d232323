import type { Block } from '../../src/block.ts';
import { Exclusions } from '../../src/core/record/exclude/exclusions.ts';
import { RunDelay } from '../../src/core/record/exclude/run-delay.ts';
import { SharedMemory } from '../../src/core/sample/shared-memory.ts';
import { Schedstat } from '../../src/support/schedstat.ts';
import { FakeClock } from './support/fake-clock.ts';
import { suspendWatchdog } from './support/note-suspension.ts';

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
const exclusions = (
  runDelay: ConstructorParameters<typeof Exclusions>[2] = { within: () => undefined },
) => new Exclusions(100, () => (isWatching ? memory : undefined), runDelay);
const isExcluded = (by: Exclusions) => by.isShort(block(), by.suspendedIn(block()));
beforeEach(() => {
  memory = new SharedMemory();
  isWatching = true;
});

test('a block of the application is not excluded, though it uses no CPU', () => {
  expect(isExcluded(exclusions())).toBe(false);
});

test('a suspension is, as long as the watchdog thread watches', () => {
  suspendWatchdog(memory, 1010, 1200);
  expect(isExcluded(exclusions())).toBe(true);
  isWatching = false;
  expect(isExcluded(exclusions())).toBe(false);
});

test('what goes on is one, if its own part has not reached the threshold yet', () => {
  const waited = (millis: number) =>
    exclusions({ within: () => ({ atLeast: millis, atMost: millis, ranAtMost: 200 }) });
  const time = { start: 1000, end: 1200, cpu: 80 };
  expect(waited(120).isSuspended(time)).toBe(true);
  expect(waited(90).isSuspended(time)).toBe(false);
  suspendWatchdog(memory, 1010, 1195);
  expect(exclusions().isSuspended(time)).toBe(true);
  expect(exclusions().isSuspended({ ...time, cpu: 120 })).toBe(false);
});

test('time without a CPU is, if it is known', () => {
  const clock = new FakeClock();
  let delay = 0;
  const open = () => ({ read: () => `1 ${delay * 1e6} 1`, close() {} });
  const runDelay = new RunDelay(clock, new Schedstat(open));
  const excluding = exclusions(runDelay);
  runDelay.start();
  runDelay.sample(clock.time);
  clock.time = 1200;
  delay = 190;
  expect(isExcluded(excluding)).toBe(true);
  runDelay.stop();
  expect(isExcluded(excluding)).toBe(false);
});
