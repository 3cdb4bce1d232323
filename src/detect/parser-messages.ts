/** Which callbacks of an HTTP server's parser belong to one message, and so to one task. */
import { type CallbackClass, MESSAGE } from './callback-class.ts';

/** Headers, end, and the end of the reading. What comes with a body is drained piece by piece. */
const MAX_CALLBACKS = 3;

export class ParserMessages {
  #callbacks = 0;
  /** The async id of the parser. */
  #parser = 0;

  /**
   * A callback of a parser begins.
   * @param previous class of the callback before it in this iteration; undefined where there is
   *   none
   * @returns whether it goes on with the message of that one
   */
  continues(previous: CallbackClass | undefined, parser: number): boolean {
    const isSame = previous === MESSAGE && parser === this.#parser;
    this.#parser = parser;
    this.#callbacks = isSame ? this.#callbacks + 1 : 1;
    return isSame && this.#callbacks <= MAX_CALLBACKS;
  }
}
