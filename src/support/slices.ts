/** Work of this package in small pieces: no turn of the event loop has much of it. */
import type { Guard } from './guard.ts';
import { now } from './time.ts';

/** A turn begins no other piece after this. */
const MAX_TURN_MILLIS = 1;

/** @returns whether it is done */
type Piece = () => boolean;

export class Slices {
  #pieces: Piece[] = [];
  #isScheduled = false;

  /** @param schedule calls `turn` soon, once, outside user code */
  constructor(
    private readonly schedule: (turn: () => void) => void,
    private readonly guard: Guard,
  ) {}

  get isEmpty(): boolean {
    return this.#pieces.length === 0;
  }

  /** Runs `piece` in later turns, after those that were added before, until it is done. */
  add(piece: Piece): void {
    this.#pieces.push(piece);
    this.#schedule();
  }

  /** Runs all that is there now. */
  finish(): void {
    this.#run(Number.POSITIVE_INFINITY);
  }

  #schedule(): void {
    if (this.#isScheduled || this.isEmpty) return;
    this.#isScheduled = true;
    this.guard.run('cannot report blocks', () => this.schedule(this.#turn));
  }

  readonly #turn = (): void => {
    this.#isScheduled = false;
    // Before it runs: V8 may end a turn half-way.
    this.#schedule();
    this.#run(now() + MAX_TURN_MILLIS);
  };

  #run(until: number): void {
    do {
      const piece = this.#pieces[0];
      if (piece === undefined) return;
      // What throws is done.
      const isDone = this.guard.run('cannot report a block', piece) ?? true;
      // It may have run what finishes all of them.
      if (isDone && this.#pieces[0] === piece) this.#pieces.shift();
    } while (now() < until);
  }
}
