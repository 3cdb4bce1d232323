import { Health, recordLag } from '../../src/core/record/lag/health.ts';
import { FakeClock } from './support/fake-clock.ts';

const INTERVAL = 20;

/** A loop that beats on time, unless it is blocked. */
class Beats {
  readonly clock = new FakeClock();
  readonly health = new Health(this.clock, INTERVAL);

  constructor() {
    this.health.start();
  }

  idle(millis: number): this {
    for (let passed = 0; passed < millis; passed += INTERVAL) {
      this.clock.wait(INTERVAL);
      this.health.lag(0);
    }
    return this;
  }
  /** Blocked, from the time of a beat on. */
  blocked(millis: number): this {
    this.clock.run(millis);
    recordLag(millis - INTERVAL, INTERVAL, (lag) => this.health.lag(lag));
    this.health.block(millis);
    return this;
  }
}

test('one second in an idle loop shows in full, which a mean does not', () => {
  const { health } = new Beats().idle(3000).blocked(1000).idle(3000);
  const { lagMillis, maxLagMillis, utilization, blockedMillis } = health.read(5000, 0);
  expect(maxLagMillis).toBe(980);
  expect(blockedMillis).toBe(1000);
  // 980, 960, ... 20 beside some 200 beats on time.
  expect(lagMillis).toBeGreaterThan(80);
  expect(lagMillis).toBeLessThan(110);
  expect(utilization).toBeCloseTo(0.2, 1);
});

test('what is going on counts: a beat that is due and does not come', () => {
  const beats = new Beats().idle(1000);
  beats.clock.run(220);
  const { lagMillis, maxLagMillis } = beats.health.read(500, 200);
  expect(maxLagMillis).toBe(200);
  // Ten that waited 20 to 200, on average 110, beside those of the half second before that waited
  // for nothing.
  expect(lagMillis).toBeGreaterThan(30);
  expect(beats.health.read(500, 0).maxLagMillis).toBe(0); // nothing of it was kept
});

test('memory is used again: a day of beats, and the last second counts', () => {
  const beats = new Beats();
  for (let i = 0; i < 10_000; i++) {
    beats.clock.wait(8640);
    beats.health.lag(i % 2 === 0 ? 500 : 1);
  }
  expect(beats.health.read(1000, 0)).toMatchObject({ lagMillis: 1, maxLagMillis: 1 });
});

test('another thread reads the same lag, and how late the next sample is by now', () => {
  const clock = new FakeClock();
  const own = new Health(clock, INTERVAL);
  const slots = own.share();
  const other = new Health({ now: () => clock.now(), waited: () => Number.NaN }, INTERVAL);
  own.start();
  for (let i = 0; i < 10; i++) {
    clock.wait(INTERVAL);
    own.lag(4);
  }
  other.copy(slots);
  expect(other.read(5000, 0)).toMatchObject({ lagMillis: 4, maxLagMillis: 4 });
  clock.run(1020);
  expect(other.read(5000, 1000).lagMillis).toBe(own.read(5000, 1000).lagMillis);
  expect(other.read(5000, 1000).maxLagMillis).toBe(1000);
});

test('what the package has used counts in the window', () => {
  const beats = new Beats().idle(1000);
  beats.health.own(3);
  beats.health.own(1.5);
  expect(beats.health.read(500, 0).ownMillis).toBe(4.5);
  beats.idle(1000);
  expect(beats.health.read(500, 0).ownMillis).toBe(0);
});
