/** The wall clock, as it is kept beside the monotonic one. */
const realDateNow = Date.now;
let lateMillis = 0;
let setBackMillis = 0;

/** The clock takes both functions when its module is loaded. */
function load() {
  Date.now = () => {
    const date = realDateNow() - setBackMillis;
    for (const end = performance.now() + lateMillis; performance.now() < end; );
    return date;
  };
  let clock: typeof import('../../src/support/clock.ts') | undefined;
  jest.isolateModules(() => {
    clock = require('../../src/support/clock.ts');
  });
  return new (clock as NonNullable<typeof clock>).SystemClock();
}

afterEach(() => {
  Date.now = realDateNow;
  lateMillis = 0;
  setBackMillis = 0;
});

test('a thread that is interrupted between the two clocks does not move spans', () => {
  const clock = load();
  clock.syncEpoch();
  const before = clock.epoch(0);
  lateMillis = 20;
  clock.syncEpoch();
  expect(clock.epoch(0)).toBe(before);
});

test('a wall clock that is set back is followed', () => {
  const clock = load();
  const before = clock.epoch(0);
  setBackMillis = 5000;
  // A busy machine may interrupt any one of them.
  for (let i = 0; i < 20; i++) clock.syncEpoch();
  expect(before - clock.epoch(0)).toBeGreaterThan(4990);
});
