/** There is one event loop, and so one recording at a time. */
import { sleep } from '../../support/time.ts';

/** A recording waits this long for code that an earlier one has left running. */
const MAX_WAIT_MILLIS = 1000;

let latest: Turn | undefined;

/**
 * The time of one recording. A test runner gives up on a test when its time-out is over: then the
 * next test records while code of the one before still runs.
 */
export class Turn {
  /** Whether the code that is recorded has begun, and whether it has ended. */
  hasBegun = false;
  hasRun = false;
  /** Ends the recording before its code ends. */
  end!: (error?: Error) => void;
  readonly ended = new Promise<void>((resolve, reject) => {
    this.end = (error) => (error === undefined ? resolve() : reject(error));
  });
  #leave!: () => void;
  readonly #left = new Promise<void>((resolve) => {
    this.#leave = resolve;
  });
  #earlier = latest;

  /** @throws Error if another recording is about to begin: two tests run at the same time */
  constructor() {
    if (this.#earlier?.hasBegun === false) {
      throw new Error(
        'another recording of blocks is under way: ' +
          'the event loop is one, run such tests one after another',
      );
    }
    latest = this;
  }

  /** Ends the earlier recording if its code has not ended, and waits for that code. */
  async take(): Promise<void> {
    const earlier = this.#earlier;
    if (earlier === undefined) return;
    this.#earlier = undefined;
    if (!earlier.hasRun)
      earlier.end(new Error('another recording of blocks began before this one had ended'));
    await Promise.race([earlier.#left, sleep(MAX_WAIT_MILLIS)]);
  }

  /** The recording is over. @param code settles when the code that was recorded ends */
  leave(code: Promise<unknown> | undefined): void {
    this.hasBegun = true;
    this.hasRun = true;
    const leave = () => {
      this.#leave();
      if (latest === this) latest = undefined;
    };
    Promise.resolve(code).then(leave, leave);
  }
}
