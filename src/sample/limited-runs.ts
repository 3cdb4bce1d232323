/**
 * `vm` code with a `timeout`, which V8 is to end. A stack sample in it may be ended in its place.
 * So the watchdog thread has to know that such code runs, and until when it may: see
 * termination.ts.
 */
import vm from 'node:vm';
import { attempt } from '../support/guard.ts';
import { Patch, type Switch } from '../support/patch.ts';
import { Cancelling, type SharedMemory, Word } from './shared-memory.ts';

/**
 * How long the end of a run waits for the watchdog thread, which polls every 10 ms, but on a busy
 * machine may have no CPU; of a worker thread, the main thread may delay it.
 */
const MAX_WAIT_MILLIS = 10_000;

/** The run around another one, as it is in the shared memory. */
interface Around {
  readonly id: number;
  readonly end: number;
}

export class LimitedRuns {
  #runs = 0;

  constructor(
    private readonly memory: SharedMemory,
    private readonly now: () => number,
  ) {}

  start(): void {
    for (const patch of patches) attempt(() => patch.apply(this));
  }

  stop(): void {
    for (const patch of patches) attempt(() => patch.putBack(this));
  }

  run<Result>(timeout: number, code: () => Result): Result {
    const around = this.#begin(timeout);
    try {
      return code();
    } finally {
      // V8 runs this for no run inside of the one whose time is over.
      this.#end(around);
    }
  }

  #begin(timeout: number): Around {
    const { words, limitedUntil } = this.memory;
    const id = Atomics.load(words, Word.limitedRun);
    const end = id === 0 ? Number.POSITIVE_INFINITY : limitedUntil.get(0);
    limitedUntil.set(0, Math.min(end, this.now() + timeout));
    this.#runs = (this.#runs % 0x7fff_ffff) + 1;
    Atomics.store(words, Word.limitedRun, this.#runs);
    return { id, end };
  }

  #end({ id, end }: Around): void {
    const { words, limitedUntil } = this.memory;
    // First: the run around this one must not seem to be over.
    limitedUntil.set(0, end);
    const run = Atomics.load(words, Word.limitedRun);
    const isClaimed = run < 0 || Atomics.compareExchange(words, Word.limitedRun, run, id) !== run;
    if (isClaimed) {
      // If its termination has not come yet, it would hit what runs next.
      waitForCancellation(words);
      Atomics.store(words, Word.limitedRun, id);
    }
  }
}

function waitForCancellation(words: Int32Array): void {
  Atomics.store(words, Word.cancelling, Cancelling.wanted);
  Atomics.wait(words, Word.cancelling, Cancelling.wanted, MAX_WAIT_MILLIS);
  Atomics.wait(words, Word.cancelling, Cancelling.begun, MAX_WAIT_MILLIS);
  Atomics.store(words, Word.cancelling, 0);
}

// biome-ignore lint/suspicious/noExplicitAny: functions of Node.js that are called as they are
type Run = (this: any, ...args: any[]) => unknown;

function call(state: Readonly<Switch<LimitedRuns>>, timeout: unknown, code: () => unknown) {
  const { user } = state;
  return user !== undefined && typeof timeout === 'number' && timeout > 0
    ? user.run(timeout, code)
    : code();
}

/** All of `vm` calls these, as they are then (Node.js 20 to 26). */
const patches = [
  new Patch<Run, LimitedRuns>(
    Object.getPrototypeOf(vm.Script.prototype),
    'runInContext',
    (original, state) =>
      ({
        runInContext(this: unknown, ...args: unknown[]) {
          return call(state, args[1], () => Reflect.apply(original, this, args));
        },
      }).runInContext,
  ),
  ...moduleClasses().map(
    (prototype) =>
      new Patch<Run, LimitedRuns>(
        prototype,
        'evaluate',
        (original, state) =>
          ({
            evaluate(this: unknown, ...args: [{ readonly timeout?: unknown }?]) {
              return call(state, args[0]?.timeout, () => Reflect.apply(original, this, args));
            },
          }).evaluate,
      ),
  ),
];

/** With `--experimental-vm-modules`. */
function moduleClasses(): object[] {
  const { SourceTextModule } = vm as { SourceTextModule?: { readonly prototype: object } };
  return SourceTextModule === undefined ? [] : [Object.getPrototypeOf(SourceTextModule.prototype)];
}
