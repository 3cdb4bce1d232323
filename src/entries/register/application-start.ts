/**
 * When the application has been loaded. If modules are hooked from a thread of their own
 * (Node.js before 22.22.3), the event loop turns before the main script is loaded, and loading it
 * would be reported as a block.
 */
import { listen, unlisten } from '../../support/process-listeners.ts';
import { clearInterval, now, setInterval } from '../../support/time.ts';

const POLL_MILLIS = 10;
/** Node.js 20 has an exit listener of this name until the main ES module has been evaluated. */
const isEvaluating = () =>
  process.listeners('exit').some((one) => one.name === 'handleProcessExit');
/** Later versions do not tell: after this long, most of it has been. */
const PATIENCE_MILLIS = 1000;

/** Calls back once. Keeps no process alive: one that ends before is never called back for. */
export function whenApplicationIsLoaded(loaded: () => void): NodeJS.Timeout {
  const giveUpAt = now() + PATIENCE_MILLIS;
  const isTold = isEvaluating();
  const timer = setInterval(() => {
    const isEvaluated = now() >= giveUpAt || (isTold && !isEvaluating());
    // Of a CommonJS main script, known as soon as it begins to be loaded.
    if (!(process.mainModule?.loaded ?? isEvaluated)) return;
    clearInterval(timer);
    loaded();
  }, POLL_MILLIS);
  return timer.unref();
}

/** Calls back once, when the process exits at the latest. */
export function whenApplicationIsLoadedOrEnds(callBack: () => void): void {
  const onExit = () => {
    clearInterval(timer);
    callBack();
  };
  const timer = whenApplicationIsLoaded(() => {
    unlisten('exit', onExit);
    callBack();
  });
  listen('exit', onExit);
}
