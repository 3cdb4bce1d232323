/**
 * Runs the synchronous code of several threads in all orders in which their steps can follow each
 * other. A step is one call of `Atomics`, or of {@link Explorer.step}. The code is the real one: to
 * go on by one step it is run from its beginning, and finds the results of the steps before.
 *
 * States that were seen before are not explored again; a waiting thread that nobody wakes goes on
 * when no other thread can, as if its time-out had passed.
 */

/** Thrown into the code when its step is done. */
const PAUSED = new Error('paused');

interface ThreadState {
  readonly results: unknown[];
  status: 'runs' | 'returned' | 'ended';
  /** Index of the word that it waits on; -1 if it does not. */
  waitsOn: number;
  isWoken: boolean;
}

export interface Explored<World extends object> {
  /** All memory that the threads share. */
  readonly memory: Int32Array;
  /** Whatever else there is: plain data. */
  readonly world: World;
  /** Each creates all objects of its own that keep state. */
  readonly threads: Record<string, () => void>;
  /** Threads that may be ended after any of their steps. */
  readonly mayEnd?: readonly string[];
  /** Whether the time-out of such a wait may pass at any time. */
  mayTimeOut?(index: number, value: number): boolean;
  /** Called when no thread can go on. */
  check?(statusOf: (thread: string) => ThreadState['status']): void;
}

interface Snapshot<World> {
  readonly memory: number[];
  readonly world: World;
  readonly states: Record<string, ThreadState>;
}

const real = originals();

function originals() {
  const { load, store, add, sub, exchange, compareExchange, notify, wait } = Atomics;
  return { load, store, add, sub, exchange, compareExchange, notify, wait };
}

export class Explorer<World extends object> {
  states = 0;
  timeOuts = 0;
  readonly #seen = new Set<string>();
  readonly #states: Record<string, ThreadState> = {};
  #running: string | undefined;
  #index = 0;
  #isStepDone = false;
  #isPaused = false;
  #mayTimeOut = false;

  constructor(private readonly explored: Explored<World>) {
    for (const thread of Object.keys(explored.threads))
      this.#states[thread] = { results: [], status: 'runs', waitsOn: -1, isWoken: false };
  }

  /** A step that is not one of `Atomics`; only possible if `isPossible`. */
  step<Result>(run: () => Result, isPossible: () => boolean = () => true): Result {
    if (this.#isPaused) throw PAUSED;
    const { results } = this.#state;
    if (this.#index < results.length) return results[this.#index++] as Result;
    if (this.#isStepDone || !isPossible()) {
      this.#isPaused = true;
      throw PAUSED;
    }
    const thread = this.#running;
    // What is done in a step has no further steps.
    this.#running = undefined;
    try {
      results.push(run());
    } finally {
      this.#running = thread;
    }
    this.#isStepDone = true;
    return results[this.#index++] as Result;
  }

  /** Whether that thread has been ended. */
  hasEnded(thread: string): boolean {
    return this.#states[thread]?.status === 'ended';
  }

  /** @returns how many states there are */
  explore(): number {
    this.#patch();
    try {
      this.#exploreFromHere();
    } finally {
      Object.assign(Atomics, real);
    }
    return this.states;
  }

  get #state(): ThreadState {
    return this.#states[this.#running as string] as ThreadState;
  }

  #patch(): void {
    const names = ['load', 'store', 'add', 'sub', 'exchange', 'compareExchange'] as const;
    for (const name of names) {
      const original = real[name] as (...args: unknown[]) => unknown;
      const patched = (...args: unknown[]) => this.#atomic(() => original(...args));
      Object.assign(Atomics, { [name]: patched });
    }
    const wait = (words: Int32Array, index: number, value: number) =>
      this.#running === undefined ? 'ok' : this.#wait(words, index, value);
    const notify = (_words: Int32Array, index: number) => this.#atomic(() => this.#notify(index));
    Object.assign(Atomics, { wait, notify });
  }

  #atomic(run: () => unknown): unknown {
    return this.#running === undefined ? run() : this.step(run);
  }

  #wait(words: Int32Array, index: number, value: number): string {
    const state = this.#state;
    const waits = this.step(() => {
      if (real.load(words, index) !== value) return false;
      state.waitsOn = index;
      return true;
    });
    if (!waits) return 'not-equal';
    const isEarly = () => this.explored.mayTimeOut?.(index, value) === true;
    return this.step(
      () => {
        const outcome = state.isWoken ? 'ok' : 'timed-out';
        Object.assign(state, { waitsOn: -1, isWoken: false });
        if (outcome === 'timed-out') this.timeOuts++;
        return outcome;
      },
      () => state.isWoken || this.#mayTimeOut || isEarly(),
    );
  }

  #notify(index: number): number {
    const woken = Object.values(this.#states).filter((state) => state.waitsOn === index);
    for (const state of woken) state.isWoken = true;
    return woken.length;
  }

  /** @returns false if the thread cannot go on now */
  #run(thread: string): boolean {
    this.#running = thread;
    this.#index = 0;
    this.#isStepDone = false;
    this.#isPaused = false;
    try {
      this.explored.threads[thread]?.();
    } catch (error) {
      if (error !== PAUSED) throw error;
    } finally {
      this.#running = undefined;
    }
    // Code may catch what pauses it.
    if (!this.#isPaused) (this.#states[thread] as ThreadState).status = 'returned';
    return this.#isStepDone || !this.#isPaused;
  }

  #exploreFromHere(): void {
    const key = JSON.stringify([this.#states, this.explored.world, [...this.explored.memory]]);
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.states++;
    const canGoOn = this.#goOn(false);
    if (!canGoOn && !this.#goOn(true))
      this.explored.check?.((thread) => (this.#states[thread] as ThreadState).status);
  }

  /** Explores all that can come next. */
  #goOn(mayTimeOut: boolean): boolean {
    const before = this.#snapshot();
    let isAny = false;
    for (const thread of Object.keys(this.#states)) {
      if (this.#states[thread]?.status !== 'runs') continue;
      this.#mayTimeOut = mayTimeOut;
      if (this.#run(thread)) {
        isAny = true;
        this.#exploreFromHere();
      }
      this.#restore(before);
      if (mayTimeOut || this.explored.mayEnd?.includes(thread) !== true) continue;
      (this.#states[thread] as ThreadState).status = 'ended';
      isAny = true;
      this.#exploreFromHere();
      this.#restore(before);
    }
    return isAny;
  }

  #snapshot(): Snapshot<World> {
    const { memory, world } = this.explored;
    return structuredClone({ memory: [...memory], world, states: this.#states });
  }

  #restore(snapshot: Snapshot<World>): void {
    const { memory, world, states } = structuredClone(snapshot);
    this.explored.memory.set(memory);
    Object.assign(this.explored.world, world);
    Object.assign(this.#states, states);
  }
}
