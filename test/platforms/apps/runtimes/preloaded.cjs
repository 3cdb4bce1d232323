/** For `/console` and `/register`: an application that knows nothing of the package. */
const { running } = require('./thread-times.cjs');

function hashAll() {
  const isRunning = running(300);
  let hash = 0;
  // Nearly all of its time is its own, not that of the clock.
  while (isRunning()) for (let i = 0; i < 200_000; i++) hash = (hash * 31 + i) | 0;
  return hash;
}
// By then the watchdog thread has started.
setTimeout(hashAll, 500);
