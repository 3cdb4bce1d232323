import { Restarts } from '../../src/support/own-threads.ts';

const MINUTE = 60_000;

test('three restarts at once, then one every 10 minutes', () => {
  const restarts = new Restarts();

  expect([0, 0, 0].map((time) => restarts.afterEnd(time))).toEqual([
    { delayMillis: 1000, isPostponed: false },
    { delayMillis: 2000, isPostponed: false },
    { delayMillis: 3000, isPostponed: false },
  ]);
  expect(restarts.afterEnd(MINUTE)).toEqual({ delayMillis: 9 * MINUTE, isPostponed: true });
  // It has been started at 10 minutes.
  expect(restarts.afterEnd(11 * MINUTE)).toEqual({ delayMillis: 9 * MINUTE, isPostponed: true });
});

test('after a reset there are three again', () => {
  const restarts = new Restarts();
  for (let i = 0; i < 4; i++) restarts.afterEnd(0);

  restarts.reset();

  expect(restarts.afterEnd(0)).toEqual({ delayMillis: 1000, isPostponed: false });
});
