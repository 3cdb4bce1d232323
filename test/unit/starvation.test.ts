import { EventLoopBlockedError } from '../../src/entries/testing/event-loop-blocked-error.ts';
import { Starvation } from '../../src/entries/testing/starvation.ts';
import { Schedstat } from '../../src/support/schedstat.ts';
import type { BlockKind, EventLoopBlock } from '../../src/types.ts';
import { EPOCH, FakeClock } from './support/fake-clock.ts';

let clock: FakeClock;
let waitedMillis: number;
let starvation: Starvation;

beforeEach(() => {
  clock = new FakeClock();
  waitedMillis = 0;
  const file = {
    read: () => `${clock.cpuTime * 1e6} ${waitedMillis * 1e6} 7`,
    close: () => {},
  };
  starvation = new Starvation(50, clock, new Schedstat(() => file));
  starvation.start();
});
afterEach(() => starvation.stop());

/** The thread runs, and waits for a CPU in between. */
function runs(millis: number, waits: number): { start: number; length: number } {
  const start = clock.time;
  clock.run(millis);
  clock.time += waits;
  waitedMillis += waits;
  return { start, length: millis + waits };
}

const lengthOf = (...asked: Parameters<Starvation['lengthOf']>) => starvation.lengthOf(...asked);

const block = ({ start, length }: { start: number; length: number }, kind?: BlockKind) => ({
  startTimeMillis: EPOCH + start,
  durationMillis: length,
  callbacks: 1,
  samples: 0,
  ...(kind && { kind }),
});

/** V8's own threads are starved then, too. */
const MORE_CPU = 1.5;

test('the time in which other processes had the CPU is no part of a block', () => {
  const a = runs(90, 10);
  starvation.turn();
  const b = runs(30, 120);
  starvation.turn();
  expect(lengthOf(block(a, 'callback'))).toBe(90);
  expect(lengthOf(block(b, 'callback'))).toBe(30 / MORE_CPU);
});

test('a starved thread also waits for the threads that collect garbage', () => {
  const ran = runs(30, 60);
  clock.time += 60;
  starvation.turn();
  const whole = block({ ...ran, length: 150 }, 'callback');
  expect(lengthOf(whole)).toBe(90 / MORE_CPU);
  expect(lengthOf({ ...whole, gcTimeMillis: 50 })).toBe(40 / MORE_CPU);
});

test('callbacks that came late because the thread had no CPU pile up, and count for less', () => {
  runs(10, 70);
  starvation.turn();
  const ran = runs(100, 0);
  starvation.turn();
  expect(lengthOf(block(ran, 'pile-up'))).toBe(30);
  expect(lengthOf(block(ran))).toBe(30);
  expect(lengthOf(block(ran, 'callback'))).toBe(100);
});

test('a loop that has waited for events since is up to date', () => {
  runs(10, 70);
  starvation.turn();
  clock.wait(5);
  starvation.turn();
  const ran = runs(100, 0);
  starvation.turn();
  expect(lengthOf(block(ran, 'pile-up'))).toBe(100);
});

test('without figures of the kernel a block counts whole', () => {
  const blind = new Starvation(50, clock, new Schedstat(() => ({ read: () => '', close() {} })));
  blind.start();
  const ran = runs(60, 60);
  blind.stop();
  expect(blind.lengthOf(block(ran, 'callback'))).toBe(120);
});

test.each([
  [200, '200 ms callback: unknown code, judged by its wall time'],
  [130, '200 ms callback: unknown code, judged as 130 ms without the waits for a CPU'],
])('the error says that it compared %f ms with the threshold', (judged, line) => {
  const block = { kind: 'callback', durationMillis: 200 } as EventLoopBlock;
  const { message } = new EventLoopBlockedError([block], 50, undefined, () => judged);
  expect(message).toContain(`  ${line}`);
});
