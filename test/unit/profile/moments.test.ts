import { ProfileMoments } from '../../../src/profile/moments.ts';
import { TAKEN } from '../../../src/sample/protocol.ts';
import { Progress, Request, SharedMemory } from '../../../src/sample/shared-memory.ts';

const INTERVAL = 1000;
/** What makes the next interval its mean. */
const MEAN = 1 - Math.exp(-1);

/** The watchdog thread's side on a fake clock, with a main thread that answers after some time. */
class Fake {
  time = 1000;
  readonly memory = new SharedMemory();
  readonly asked: number[] = [];
  answerMillis = 0;
  random = () => MEAN;
  readonly moments: ProfileMoments;

  constructor(options: Partial<ProfileMoments['parts']['options']> = {}) {
    this.moments = new ProfileMoments({
      options: {
        isAlways: true,
        intervalMillis: INTERVAL,
        firstIntervalMillis: 100,
        firstMoments: 0,
        maxBeatMillis: 500,
        ...options,
      },
      memory: this.memory,
      now: () => this.time,
      random: () => this.random(),
      sample: async (onWaiting) => {
        this.memory.request.set(Request.requestedAt, this.time);
        this.asked.push(this.time);
        if (this.answerMillis > 0) onWaiting();
        this.time += this.answerMillis;
        this.memory.answeredAt.set(0, this.time);
        // The watchdog thread notices later.
        this.time += 2;
        return TAKEN;
      },
    });
  }

  async until(end: number, onWaiting = () => {}): Promise<this> {
    while (this.time < end) {
      await this.moments.sampleIfDue(onWaiting);
      this.moments.note();
      this.time += Math.min(10, Math.max(0.5, this.moments.untilDue));
    }
    return this;
  }

  /** Beats, from one to the next of which the loop waits for a part. */
  async beats(millis: number, utilization: number, apart = 20): Promise<void> {
    const end = this.time + millis;
    while (this.time < end) {
      const { progress } = this.memory;
      progress.set(Progress.beatAt, this.time);
      progress.set(Progress.idleTime, progress.get(Progress.idleTime) + apart * (1 - utilization));
      await this.until(this.time + apart);
    }
  }
}

test('so is one in which the watchdog thread slept since the loop idled', async () => {
  const fake = new Fake();
  fake.time = 2010;
  fake.moments.skip();
  await fake.until(3500);
  expect(fake.asked.map(Math.round)).toEqual([3010]);
});

test('while none is wanted, the watchdog thread is not woken by close ones', async () => {
  const fake = new Fake({ isAlways: false, firstMoments: 480 });
  const dues = new Set<number>();
  while (fake.time < 6000) {
    await fake.until(fake.time + 1);
    dues.add(Math.round(fake.time + fake.moments.untilDue));
  }
  expect([...dues]).toEqual([1100, 2100, 3100, 4100, 5100, 6100]);
  expect(fake.asked).toEqual([]);
});

test('the first moments are closer, and say so', async () => {
  const fake = new Fake({ firstMoments: 3 });
  const intervals: (number | undefined)[] = [];
  await fake.until(1150);
  intervals.push(fake.memory.request.get(Request.profileInterval));
  await fake.until(4500);
  intervals.push(fake.memory.request.get(Request.profileInterval));
  expect(fake.asked.map(Math.round)).toEqual([1100, 1200, 1300, 2300, 3300, 4300]);
  expect(intervals).toEqual([100, 1000]);
});

describe("'busy'", () => {
  test('a block counts while it lasts, though there is no beat', async () => {
    const fake = new Fake({ isAlways: false, intervalMillis: 100 });
    await fake.beats(10_000, 0.1);
    await fake.until(fake.time + 2000);
    expect(fake.asked).toEqual([]);
    await fake.until(fake.time + 2000);
    expect(fake.asked.length).toBeGreaterThan(3);
  });
});
