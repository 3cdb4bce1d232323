import { CaptureSchedule, captureTimes } from '../../src/sample/capture-times.ts';

describe('when a busy period is sampled first', () => {
  test.each([
    // threshold, lag interval, hooked, pulse, busy, first capture
    [100, 20, true, 20, 40, 50],
    [1000, 20, true, 20, 400, 500],
    [100, 1000, true, 49, 51, 51],
    [10, 20, true, 4, 6, 6],
    [5, 20, true, 1, 3, 3],
    [1, 20, true, 1, 3, 3],
    [10, 20, false, 20, 22, 22],
  ])('threshold %d, lag %d, hooks %s', (threshold, lag, hooked, pulse, busy, capture) => {
    const times = captureTimes(threshold, lag, hooked);
    expect(times.pulseMillis).toBe(pulse);
    expect(times.busyAfterMillis).toBe(busy);
    expect(times.captureAfterMillis).toBe(capture);
  });

  test('never before it is surely busy, however the options are', () => {
    for (let threshold = 1; threshold <= 300; threshold += 0.5) {
      for (const lag of [1, 5, 20, 100, 1000]) {
        const times = captureTimes(threshold, lag, true);
        expect(times.captureAfterMillis).toBeGreaterThan(times.pulseMillis);
        expect(times.pulseMillis).toBeLessThanOrEqual(lag);
        expect(times.pulseMillis).toBeGreaterThanOrEqual(1);
        if (threshold >= 10) expect(times.captureAfterMillis).toBeLessThan(threshold);
      }
    }
  });
});

test('captures come closely at first, then ever less often, and not for ever', () => {
  const schedule = new CaptureSchedule(captureTimes(100, 20, true));
  const ages: number[] = [];
  while (schedule.due < Number.POSITIVE_INFINITY) {
    ages.push(Math.round(schedule.due));
    schedule.take(schedule.due);
  }
  expect(ages.slice(0, 5)).toEqual([50, 90, 130, 170, 210]);
  expect(ages).toHaveLength(50);
  expect(ages.at(-1)).toBeGreaterThan(60_000);
});

test.each([100, 20])('a callback that begins late is sampled soon, threshold %d', (threshold) => {
  const schedule = new CaptureSchedule(captureTimes(threshold, 20, true));
  for (let before = 0; before < 1000; before = schedule.due, schedule.take(before))
    expect(schedule.due - before).toBeLessThanOrEqual(Math.max(threshold, 50));
});

test('a recording of a test has nine captures before the threshold, and as many in the same time after it', () => {
  const times = captureTimes(100, 20, true, true);
  expect(times).toMatchObject({ pulseMillis: 9, busyAfterMillis: 11, captureAfterMillis: 11 });
  const schedule = new CaptureSchedule(times);
  let captures = 0;
  for (; schedule.due < 200; captures++) schedule.take(schedule.due);
  expect(captures).toBe(17);
});

test('a capture that came late moves the next one', () => {
  const schedule = new CaptureSchedule(captureTimes(100, 20, true));
  schedule.take(500);
  expect(schedule.due).toBe(600);
});
