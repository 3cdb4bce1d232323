/**
 * Work before a process ends by itself. Node.js emits `beforeExit` when its event loop has nothing
 * left to do, and again each time that a listener has given it something. Work of this package
 * adds no call of the application's listeners:
 *
 * 1. When the event loop has nothing left to do, the work is done, and `beforeExit` is not emitted.
 * 2. When it has nothing left once more, `beforeExit` is emitted.
 * 3. If the listeners have given it something to do, all of this begins anew. If not, the work is
 *    done for what they have left behind, and the process ends.
 */
import { createHook, executionAsyncResource } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import { canCountIterations } from './clock.ts';
import { attempt } from './guard.ts';
import { Patch, type Wrap } from './patch.ts';
import { all, countOurs, listen, unlisten } from './process-listeners.ts';
import { letGoOfSignals, listenForSignalsAgain } from './signal-listener.ts';
import { clearTimeout, nextTick, setImmediate, setTimeout } from './time.ts';

const EVENT = 'beforeExit';
/** How long a promise of work keeps the process alive. */
const MAX_WORK_MILLIS = 5000;

type Work = () => Promise<unknown> | undefined;
type Emit = (event: string | symbol, ...args: unknown[]) => boolean;

class LoopEnd {
  readonly #works = new Set<Work>();
  readonly #patch = new Patch<Emit>(
    process,
    'emit',
    wrapEmit((emit) => this.#onEnd(emit)),
  );
  #next: 'work' | 'listeners' | 'end' = 'work';

  add(work: Work): void {
    this.#works.add(work);
    // In other runtimes, the emission by the event loop cannot be told from others.
    if (canCountIterations) this.#patch.apply();
    else listen(EVENT, this.#onlyWork);
  }

  remove(work: Work): void {
    this.#works.delete(work);
    if (this.#works.size > 0) return;
    this.#patch.putBack();
    unlisten(EVENT, this.#onlyWork);
  }

  readonly #onlyWork = (): void => {
    unlisten(EVENT, this.#onlyWork);
    this.#work();
  };

  #onEnd(emit: () => boolean): boolean {
    switch (this.#next) {
      case 'work':
        this.#next = 'listeners';
        // One turn brings a signal that the process has sent itself and that has not come yet.
        setImmediate(() => {});
        this.#work();
        return true;
      case 'listeners':
        this.#next = 'work';
        attempt(() => this.#beforeListeners());
        return emit();
      case 'end':
        this.#next = 'listeners';
        return true;
    }
  }

  #beforeListeners(): void {
    // Nothing is left to do on a signal, and no turn may come that would bring it.
    letGoOfSignals(Number.POSITIVE_INFINITY);
    setImmediate(listenForSignalsAgain).unref();
    if (EventEmitter.prototype.listenerCount.call(process, EVENT) === countOurs(EVENT)) return;
    const isAlive = watchLoop();
    // After the listeners and their promise reactions.
    Promise.resolve().then(() =>
      nextTick(() => {
        if (!isAlive() && this.#work()) this.#next = 'end';
      }),
    );
  }

  /** @returns whether it goes on */
  #work(): boolean {
    const promises = [...this.#works].map((work) => attempt(work)).filter((each) => each);
    if (promises.length === 0) return false;
    const timer = setTimeout(() => {}, MAX_WORK_MILLIS);
    Promise.allSettled(promises).then(() => clearTimeout(timer));
    return true;
  }
}

const wrapEmit =
  (onEnd: (emit: () => boolean) => boolean): Wrap<Emit> =>
  (original, power) =>
    ({
      emit(this: unknown, ...args: Parameters<Emit>): boolean {
        // Only the event loop itself emits in the name of the process.
        const isEnd = power.on && args[0] === EVENT && executionAsyncResource() === process;
        return isEnd ? onEnd(() => original.apply(this, args)) : original.apply(this, args);
      },
    }).emit;

/** Resources that keep no event loop alive by being made. */
const HARMLESS = new Set(
  'PROMISE TickObject Microtask Timeout Immediate PIPEWRAP TTYWRAP WRITEWRAP SIGNALWRAP'.split(' '),
);
/** Standard output and error have these all the time. */
const STREAMS = ['PipeWrap', 'TTYWrap'];

/**
 * Whether what runs from now on gives the event loop something to do. Work of the thread pool is
 * known by its beginning alone; what is referenced again, by {@link activeCounts}.
 */
function watchLoop(): () => boolean {
  let isBegun = false;
  const before = activeCounts();
  const hook = createHook({
    init(_id, type) {
      if (!HARMLESS.has(type)) isBegun = true;
    },
  }).enable();
  return () => {
    hook.disable();
    for (const [type, count] of activeCounts()) if (count > (before.get(type) ?? 0)) isBegun = true;
    return isBegun;
  };
}

function activeCounts(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const type of process.getActiveResourcesInfo())
    if (!STREAMS.includes(type)) counts.set(type, (counts.get(type) ?? 0) + 1);
  return counts;
}

export const doAtLoopEnd = (work: Work): void => {
  all.loopEnd ??= new LoopEnd();
  all.loopEnd.add(work);
};
export const undoAtLoopEnd = (work: Work): void => all.loopEnd?.remove(work);
