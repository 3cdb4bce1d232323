import { ROOT_CONTEXT } from '@opentelemetry/api';
import type { Block } from '../../src/block.ts';
import { Exclusions } from '../../src/detect/exclude/exclusions.ts';
import { RunDelay } from '../../src/detect/exclude/run-delay.ts';
import { SharedMemory } from '../../src/sample/shared-memory.ts';
import { Schedstat } from '../../src/support/schedstat.ts';
import { FakeClock } from './support/fake-clock.ts';
import { suspendWatchdog } from './support/note-suspension.ts';
import { stackSample } from './support/stack-sample.ts';

let isInspected = false;
jest.mock('../../src/sample/inspector.ts', () => ({
  ...jest.requireActual('../../src/sample/inspector.ts'),
  isInspected: () => isInspected,
}));

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
beforeEach(() => {
  memory = new SharedMemory();
  isWatching = true;
  isInspected = false;
});

test('a block of the application is not excluded, though it uses no CPU', () => {
  expect(exclusions().reasonFor(block())).toBeUndefined();
});

test('what Node.js does at the end of the process is', () => {
  expect(exclusions().reasonFor(block({ resourceType: 'PROCESS' }))).toBe('teardown');
});

test('a suspension is, as long as the watchdog thread watches', () => {
  suspendWatchdog(memory, 1010, 1200);
  expect(exclusions().reasonFor(block())).toBe('suspension');
  isWatching = false;
  expect(exclusions().reasonFor(block())).toBeUndefined();
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

test('a pause in the debugger is, and not a block that had no CPU for most of its time', () => {
  const withDelay = (millis: number) =>
    exclusions({ within: () => ({ atLeast: millis, atMost: millis, ranAtMost: 200 }) });
  isInspected = true;
  expect(withDelay(0).reasonFor(block({ cpu: 15 }))).toBe('debugger');
  expect(withDelay(80).reasonFor(block({ cpu: 15 }))).toBeUndefined();
  isInspected = false;
  expect(withDelay(0).reasonFor(block({ cpu: 15 }))).toBeUndefined();
});

describe('with a debugger, time without CPU is a pause', () => {
  const WAIT = { name: 'child_process.execSync', size: undefined };
  const sample = (requestedAt: number, time: number, weight: number, nativeCall?: typeof WAIT) =>
    ({
      ...stackSample(time, ROOT_CONTEXT),
      requestedAt,
      nativeCall,
      weight,
    }) as Block['samples'][number];

  test.each<[string, Block['samples'], string | undefined]>([
    ['if samples are answered at once', [sample(1050, 1051, 200)], 'debugger'],
    ['if nobody knows when they were asked for', [sample(Number.NaN, 1051, 200)], 'debugger'],
    ['but not if one comes late', [sample(1050, 1199, 200)], undefined],
    ['but not in a call that is known', [sample(1050, 1051, 200, WAIT)], undefined],
    ['for half of it', [sample(1050, 1051, 100), sample(1052, 1199, 100)], 'debugger'],
    ['but not for less', [sample(1050, 1051, 99), sample(1052, 1199, 101)], undefined],
  ])('%s', (_what, samples, reason) => {
    isInspected = true;
    expect(exclusions().reasonFor(block({ samples }))).toBe(reason);
  });
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
  expect(excluding.reasonFor(block())).toBe('suspension');
  runDelay.stop();
  expect(excluding.reasonFor(block())).toBeUndefined();
});
