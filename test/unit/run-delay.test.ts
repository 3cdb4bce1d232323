import { RunDelay } from '../../src/core/record/exclude/run-delay.ts';
import { ThreadCpu } from '../../src/core/sample/thread-cpu.ts';
import { Schedstat, threadFolder } from '../../src/support/schedstat.ts';
import { FakeClock } from './support/fake-clock.ts';

describe('how long a thread waited for a CPU', () => {
  let clock: FakeClock;
  /** Of the thread so far, in milliseconds. */
  let delay: number;
  let isOpen: boolean;
  let runDelay: RunDelay;
  beforeEach(() => {
    clock = new FakeClock();
    delay = 70;
    isOpen = false;
    const schedstat = new Schedstat(() => {
      isOpen = true;
      return {
        read: () => `${clock.cpuTime * 1e6} ${delay * 1e6} 42\n`,
        close: () => {
          isOpen = false;
        },
      };
    });
    runDelay = new RunDelay(clock, schedstat);
    runDelay.start();
  });
  /** The thread has no CPU. */
  function suspend(millis: number) {
    clock.time += millis;
    delay += millis;
  }

  test('is nothing if it may have waited before the start', () => {
    runDelay.sample(clock.time);
    suspend(80);
    const start = clock.time;
    clock.time += 130; // a synchronous call that waits
    expect(runDelay.within(start, clock.time)).toEqual({
      atLeast: 0,
      atMost: 80,
      ranAtMost: 0,
    });
  });

  test('is known from the start on, before the first beat', () => {
    const start = clock.time;
    suspend(200);
    expect(runDelay.within(start, clock.time)?.atLeast).toBe(200);
    expect(runDelay.within(start - 1, clock.time)).toBeUndefined();
  });

  test('counts from the reading at the end of a block before it', () => {
    runDelay.sample(clock.time);
    clock.wait(10);
    const start = clock.time;
    suspend(400);
    const end = clock.time;
    runDelay.within(start, end);
    clock.run(1);
    suspend(40);
    clock.run(15);
    const waited = { atLeast: 40, atMost: 40, ranAtMost: 16 };
    expect(runDelay.within(end, clock.time)).toEqual(waited);
  });

  test('is the remainder of a callback in a flood, as long as nothing slept since the reading', () => {
    runDelay.sample(clock.time);
    for (let i = 0; i < 10; i++) {
      suspend(99);
      clock.run(1);
    }
    const start = clock.time;
    suspend(99);
    clock.run(1);
    const grain = 4;
    expect(runDelay.within(start, clock.time, 1)?.atLeast).toBe(99 - grain);
    // A synchronous call that sleeps, there or before it.
    const later = clock.time;
    clock.time += 110;
    expect(runDelay.within(later, clock.time, 0)?.atLeast).toBe(0);
    expect(runDelay.within(start, later, 1)?.atLeast).toBe(99 - grain);
  });

  test('is not asked for any more once it has stopped', () => {
    runDelay.sample(clock.time);
    const start = clock.time;
    suspend(200);
    runDelay.stop();
    expect(isOpen).toBe(false);
    expect(runDelay.within(start, clock.time)).toBeUndefined();
  });
});

(process.platform === 'linux' ? test : test.skip)('the counters of a thread by path', () => {
  const folder = threadFolder() as string;
  expect(folder).toMatch(/^\/proc\/\d+\/task\/\d+$/);
  const [byPath, own] = [new ThreadCpu(folder), new Schedstat()];
  for (const schedstat of [own, byPath]) {
    schedstat.start();
    schedstat.read();
    schedstat.stop();
  }
  byPath.start();
  expect(byPath.isReady()).toBe(true);
  byPath.stop();
  expect(byPath.ran).toBeGreaterThanOrEqual(own.ran);
  expect(byPath.slices).toBeGreaterThanOrEqual(own.slices);
});
