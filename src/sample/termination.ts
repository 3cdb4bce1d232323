/**
 * What the application has ended (`vm` code by its `timeout`, a worker thread by `terminate()`) may
 * be in a stack sample at that moment. V8 ends only the sample then, and the code would run for
 * ever (observed on Node.js 20 to 26): it is terminated once more.
 *
 * Guarantees: nothing is terminated that the application has not ended itself. A termination that
 * comes too late leaves the stack of async_hooks as it is, which ends the process (observed on
 * Node.js 20 to 26), so what it is meant for has to be running when it comes:
 *
 * 1. Code with a limit (`limited-runs.ts`) whose time was over when the sample was ended. The
 *    watchdog thread claims the run, and terminates it. If the run ends before that comes, its end
 *    waits until an evaluation is queued behind the termination, which hits that instead
 *    ({@link cancellation}).
 * 2. A worker thread in which Node.js runs no code any more: the thread says so. While V8 refuses
 *    to run the question, since it is to end what runs, the question is asked again. If V8 refuses
 *    every time, it waits for a call to end a loop that has none.
 */
import type { Runtime } from 'node:inspector';
import { runInThisContext } from 'node:vm';
import { LOST } from './protocol.ts';
import { Cancelling, type SharedMemory, Word } from './shared-memory.ts';

const MAX_QUESTIONS = 10;
/** Node.js ends a run by a timer of a thread, which may be some 1 ms early. */
const EARLY_MILLIS = 5;
/** By then it has surely done so: on a busy machine that thread may have no CPU. */
const LATE_MILLIS = 20;

/** V8 takes back at its end what is to end the code around it: that is what `timeout` is for. */
export const cancellation: Runtime.EvaluateParameterType & { readonly timeout: number } = {
  expression: '(() => { const next = (n) => n + 1; for (let n = 0; n < 1000; ) n = next(n); })()',
  silent: true,
  timeout: 1000,
};

/** How the watchdog thread reaches the watched thread. */
export interface Commands {
  /** Whether the watched thread is a worker thread, which can be terminated as a whole. */
  readonly canEnd: boolean;
  /**
   * Has it answer by {@link answerTermination}. `isRefused`: V8 did not run the question, since it
   * is to end what runs.
   */
  ask(answered: (isRefused: boolean, answer: unknown) => void): void;
  terminate(): void;
  /** Has it evaluate {@link cancellation}; `queued` is called when nothing else comes before it. */
  cancel(queued: () => void): void;
}

/** The watchdog thread's side. */
export class Termination {
  readonly #endedAt: number;
  #isClaimed = false;
  #questions = 0;
  #refusals = 0;
  #isAsked = false;

  /**
   * A sample has just been ended.
   * @param now the watched thread's `performance.now()`
   * @param done called once, if `isClosed` does not become true before
   */
  constructor(
    private readonly memory: SharedMemory,
    private readonly now: () => number,
    private readonly commands: Commands,
    private readonly isClosed: () => boolean,
    private readonly done: () => void,
  ) {
    this.#endedAt = now();
  }

  /** Call it every few milliseconds. */
  poll(): void {
    const { commands, memory } = this;
    const { words } = memory;
    const { wanted, begun, queued } = Cancelling;
    if (Atomics.compareExchange(words, Word.cancelling, wanted, begun) === wanted) {
      commands.cancel(() => {
        Atomics.store(words, Word.cancelling, queued);
        Atomics.notify(words, Word.cancelling);
      });
      return;
    }
    const run = Atomics.load(words, Word.limitedRun);
    if (run < 0) return;
    if (this.#isClaimed) this.done();
    else if (run > 0) this.#endRun(run);
    else if (commands.canEnd) this.#ask();
    else this.done();
  }

  #endRun(run: number): void {
    const { words, limitedUntil } = this.memory;
    const until = limitedUntil.get(0);
    // Another one has begun since.
    if (!(until <= this.#endedAt + EARLY_MILLIS)) this.done();
    else if (this.now() >= until + LATE_MILLIS) {
      this.#isClaimed = Atomics.compareExchange(words, Word.limitedRun, run, -run) === run;
      if (this.#isClaimed) this.commands.terminate();
    }
  }

  #ask(): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    this.#questions++;
    this.commands.ask((isRefused, answer) => {
      // Node.js says it of all questions when the session is closed.
      if (this.isClosed()) return;
      if (isRefused) this.#refusals++;
      const isStuck = this.#refusals === MAX_QUESTIONS;
      const isAnswered = !isRefused && answer !== LOST;
      if (answer === 'ended' || isStuck) this.commands.terminate();
      if (isAnswered || this.#questions === MAX_QUESTIONS) this.done();
      else this.#isAsked = false;
    });
  }
}

/** The watched thread's side, inside whatever runs there. */
export function answerTermination(): string {
  return runInThisContext('1') === undefined ? 'ended' : 'over';
}
