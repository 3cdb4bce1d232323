/**
 * What the application has ended (`vm` code by its `timeout`, a worker thread by `terminate()`) may
 * be in a stack sample at that moment. V8 ends only the sample then, and the code would run for
 * ever (observed on Node.js 20 to 26): it is terminated once more.
 *
 * Guarantees: nothing is terminated that the application has not ended itself. What it has ended
 * may be over by now, so the watched thread is asked, and says one of these:
 *
 * 1. Node.js runs no code in this thread any more: the thread is terminated.
 * 2. `vm` code runs: the thread waits, inside that code, until the termination is queued, and V8
 *    ends the code as soon as the thread goes on.
 * 3. Neither: nothing is terminated.
 *
 * While V8 refuses to run the question, since it is to end what runs, the question is asked again.
 * If V8 refuses every time, it waits for a call to end a loop that has none: that is terminated.
 * Any other error terminates nothing.
 */
import { runInThisContext } from 'node:vm';
import { LOST } from './protocol.ts';
import { Terminating, Word } from './shared-memory.ts';

/** The files of Node.js that run `vm` code. */
const VM_FILES = ['node:vm', 'node:internal/vm/module'];
const MAX_QUESTIONS = 10;
/** The watchdog thread polls every 10 ms, but on a busy machine it may have no CPU. */
const MAX_WAIT_MILLIS = 500;

/** How the watchdog thread reaches the watched thread. */
export interface Commands {
  /**
   * Has it answer by {@link answerTermination}. `isRefused`: V8 did not run the question, since it
   * is to end what runs.
   */
  ask(answered: (isRefused: boolean, answer: unknown) => void): void;
  /** `queued` is called when nothing else runs in the watched thread before it. */
  terminate(queued: () => void): void;
}

/** The watchdog thread's side. */
export class Termination {
  #questions = 0;
  #refusals = 0;

  /** @param done called once, if `isClosed` does not become true before */
  constructor(
    private readonly words: Int32Array,
    private readonly commands: Commands,
    private readonly isClosed: () => boolean,
    private readonly done: () => void,
  ) {
    this.#ask();
  }

  /** Call it every few milliseconds. */
  poll(): void {
    const { words } = this;
    const { wanted, begun, queued } = Terminating;
    if (Atomics.compareExchange(words, Word.termination, wanted, begun) !== wanted) return;
    this.commands.terminate(() => {
      Atomics.store(words, Word.termination, queued);
      Atomics.notify(words, Word.termination);
    });
  }

  #ask(): void {
    this.#questions++;
    this.commands.ask((isRefused, answer) => {
      // Node.js says it of all questions when the session is closed.
      if (this.isClosed()) return;
      if (isRefused) this.#refusals++;
      const isStuck = this.#refusals === MAX_QUESTIONS;
      const isAnswered = !isRefused && answer !== LOST;
      if (answer === 'ended' || isStuck) this.commands.terminate(this.done);
      else if (isAnswered || this.#questions === MAX_QUESTIONS) this.done();
      else this.#ask();
    });
  }
}

/**
 * The watched thread's side, inside whatever runs there.
 * @param isOnStack whether code of one of these files runs, however deep the stack is
 */
export function answerTermination(
  words: Int32Array,
  isOnStack: (files: readonly string[]) => boolean,
): string {
  if (runInThisContext('1') === undefined) return 'ended';
  if (!isOnStack(VM_FILES)) return 'over';
  const { wanted, begun } = Terminating;
  Atomics.store(words, Word.termination, wanted);
  Atomics.wait(words, Word.termination, wanted, MAX_WAIT_MILLIS);
  const isTaken = Atomics.compareExchange(words, Word.termination, wanted, 0) !== wanted;
  if (isTaken) Atomics.wait(words, Word.termination, begun, MAX_WAIT_MILLIS);
  Atomics.store(words, Word.termination, 0);
  return isTaken ? 'terminated' : 'over';
}
