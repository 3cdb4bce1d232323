/** For `/console` and `/register`: an application that knows nothing of the package. */
const { running } = require('./thread-times.cjs');

function hashAll() {
  const isRunning = running(300);
  while (isRunning());
}
// By then the watchdog thread has started.
setTimeout(hashAll, 500);
