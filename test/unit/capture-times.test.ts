import { CaptureSchedule, captureTimes } from '../../src/core/sample/capture-times.ts';

describe('when a busy period is sampled first', () => {
  test.each([
    // threshold, lag interval, pulse, busy, first capture
    [100, 20, 20, 40, 50],
    [1000, 20, 20, 400, 500],
    [100, 1000, 49, 51, 51],
    [10, 20, 4, 6, 6],
    [5, 20, 1, 3, 3],
    [1, 20, 1, 3, 3],
  ])('threshold %d, lag %d', (threshold, lag, pulse, busy, capture) => {
    const times = captureTimes(threshold, lag);
    expect(times.pulseMillis).toBe(pulse);
    expect(times.busyAfterMillis).toBe(busy);
    expect(times.captureAfterMillis).toBe(capture);
  });

  test('never before it is surely busy, however the options are', () => {
    for (let threshold = 1; threshold <= 300; threshold += 0.5) {
      for (const lag of [1, 5, 20, 100, 1000]) {
        const times = captureTimes(threshold, lag);
        expect(times.captureAfterMillis).toBeGreaterThan(times.pulseMillis);
        expect(times.pulseMillis).toBeLessThanOrEqual(lag);
        expect(times.pulseMillis).toBeGreaterThanOrEqual(1);
        if (threshold >= 10) expect(times.captureAfterMillis).toBeLessThan(threshold);
      }
    }
  });
});

test('captures come closely at first, then ever less often, and not for ever', () => {
  const schedule = new CaptureSchedule(captureTimes(100, 20));
  const ages: number[] = [];
  while (schedule.due < Number.POSITIVE_INFINITY) {
    ages.push(Math.round(schedule.due));
    schedule.take(schedule.due);
  }
  expect(ages.slice(0, 5)).toEqual([50, 90, 130, 170, 210]);
  expect(ages).toHaveLength(50);
  expect(ages.at(-1)).toBeGreaterThan(60_000);
});

test('where the budget gets short, each one comes at twice the age', () => {
  const schedule = new CaptureSchedule(captureTimes(100, 20));
  const ages: number[] = [];
  for (let i = 0; i < 5; i++) {
    ages.push(schedule.due);
    schedule.take(schedule.due, true);
  }
  expect(ages).toEqual([50, 100, 200, 400, 800]);
});
