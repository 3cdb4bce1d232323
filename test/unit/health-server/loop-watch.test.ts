import { Request, SharedMemory, Sleeping, Word } from '../../../src/core/sample/shared-memory.ts';
import { Schedstat } from '../../../src/support/schedstat.ts';
import { LoopWatch } from '../../../src/threads/health-server/loop-watch.ts';
import { Beat, beatIn, createBeatMemory } from '../../../src/threads/health-server/protocol.ts';

const LIMITS = { thresholdMillis: 100, failAfterMillis: 30_000, maxBlockedMillis: 300_000 };
/** How long a worse status is confirmed: in two parts. */
const CONFIRMED_AFTER = 100;

/** A main thread on a fake clock, as far as the health server's thread sees it. */
class MainThread {
  time = 1000;
  ran = 500;
  waited = 0;
  readonly waits: number[] = [];
  /** What happens in the next waits. */
  readonly meanwhile: (() => void)[] = [];
  readonly watchdog = new SharedMemory();
  readonly memory = {
    beat: createBeatMemory(),
    watchdog: this.watchdog.buffer,
  };
  readonly #schedstat = new Schedstat(() => ({
    read: () => `${this.ran * 1e6} ${this.waited * 1e6} 1`,
    close() {},
  }));
  readonly watch = new LoopWatch(
    this.memory,
    LIMITS,
    () => this.time,
    this.#schedstat,
    async (millis) => {
      this.waits.push(millis);
      this.time += millis;
      this.ran += millis;
      this.meanwhile.shift()?.();
    },
  );

  beat(): void {
    const beat = beatIn(this.memory.beat);
    beat.values[Beat.ran] = this.ran;
    beat.values[Beat.waitedForCpu] = this.waited;
    beat.values[Beat.stopped] = this.watchdog.sleep.get(Sleeping.stopped);
    beat.values[Beat.due] = this.time + 20;
    beat.publish();
  }

  /** The loop does not turn. */
  run(millis: number): void {
    this.time += millis;
    this.ran += millis;
  }
}

let main: MainThread;
beforeEach(() => {
  main = new MainThread();
  main.beat();
});

test('a block that was suspended: the watchdog thread notes it meanwhile', async () => {
  main.run(1020);
  await main.watch.status();
  main.time += 60_000;
  main.meanwhile.push(() => {
    main.watchdog.sleep.set(Sleeping.stopped, 60_000);
  });
  expect(await main.watch.status()).toMatchObject({
    name: 'blocked',
    // It has run since the beat, which is 20 ms longer than the next one is late.
    blockedMillis: 1020 + 2 * CONFIRMED_AFTER,
  });
});

test('the age of a block does not shrink while the kernel counts late', async () => {
  main.run(20_020);
  const ages: number[] = [];
  for (let i = 0; i < 3; i++) {
    ages.push((await main.watch.status()).blockedMillis);
    // It has run for a millisecond; the rest of what it waited is counted late.
    main.time += 1;
    main.ran += 1;
    main.waited += 100;
  }
  main.run(1000);
  ages.push((await main.watch.status()).blockedMillis);
  expect(ages).toEqual([20_100, 20_100, 20_100, 20_803]);
  main.beat();
  expect(await main.watch.status()).toMatchObject({ name: 'ok', blockedMillis: 0 });
});

test.each([
  ['that answers no stack sample is stuck', Number.NEGATIVE_INFINITY, 'stuck'],
  ['that answers them is paused in the debugger', 1100, 'ok'],
])('with a debugger, a thread without CPU %s', async (_what, answeredAt, name) => {
  Atomics.store(main.watchdog.words, Word.inspected, 1);
  main.watchdog.request.set(Request.requestedAt, 1100);
  main.watchdog.answeredAt.set(0, answeredAt);
  main.time += 60_000;
  expect(await main.watch.status()).toMatchObject({ name });
});
