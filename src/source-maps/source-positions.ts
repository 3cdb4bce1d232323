/**
 * Positions in the source for positions in the code that runs, and what names need of files. The
 * main thread's side.
 *
 * Guarantees: it reads no more of a file than its end, and never decodes the map of one; it waits
 * only if {@link SourcePositions.settle} is told to, never keeps the process alive, and never
 * throws.
 */
import { learnPassesOn } from '../name/continuation.ts';
import { learnPackage } from '../name/packages.ts';
import type { OnceLogger } from '../otel/diag-once.ts';
import { inRootContext } from '../otel/root-context.ts';
import { withoutTracing } from '../otel/sdk-internals.ts';
import { toPath } from '../support/file-url.ts';
import { attempt, Guard } from '../support/guard.ts';
import { tracesSyncIo } from '../support/schedstat.ts';
import { clearTimeout, now, setTimeout } from '../support/time.ts';
import { isOfFile } from './loaded-text.ts';
import { mayBeOfLoader, positionIfUnread, positionsOfLoader } from './loader-maps.ts';
import { mayHaveMap } from './map-of.ts';
import type { GeneratedPosition, SourcePosition, SourcePositionList } from './position.ts';
import type { Answer, Question } from './source-map.worker.ts';
import { SourceMapThread } from './source-map-thread.ts';

const DEFAULT_OPTIONS = {
  /** Code of a loader has no line, and no other position is looked up. */
  isOff: false,
  /** Runs what may take long, on the main thread. */
  asOwnWork: (work: () => void) => work(),
  /** A lookup waits at most this long for the thread; what is not known then is undefined. */
  maxWaitMillis: 1000,
  /** A thread that was not asked for this long ends. */
  idleMillis: 30_000,
};

/** Positions and files that are remembered: some 100 blocks with stacks of 50 different frames. */
const MAX_REMEMBERED = 5000;
/** Files whose end is looked at for one lookup, in some 10 µs each: a thread reads the others. */
const MAX_ENDS = 50;
/** A thread that hangs, as its disk may, is asked no more. */
const MAX_UNANSWERED = 100;

interface Lookup {
  readonly done: () => void;
  /** It waits until then at most. */
  readonly until: number;
  readonly timer: NodeJS.Timeout;
}

export class SourcePositions {
  readonly #known = new Map<string, SourcePosition | undefined>();
  /** Whether a file may have a map; `never`: it has ended the thread. */
  readonly #mapped = new Map<string, boolean | 'never'>();
  readonly #pending = new Map<number, Lookup>();
  readonly #unanswered = new Map<number, Question>();
  readonly #options: typeof DEFAULT_OPTIONS;
  readonly #guard: Guard;
  #thread: SourceMapThread | undefined;
  #nextId = 0;
  #mayAsk = true;
  /** Of the lookup that is being answered: what is asked for then waits no longer. */
  #until = Number.POSITIVE_INFINITY;
  #whenSettled: (() => void)[] = [];

  constructor(
    private readonly log: Pick<OnceLogger, 'log'>,
    options: Partial<typeof DEFAULT_OPTIONS> = {},
  ) {
    this.#guard = new Guard(log);
    this.#options = { ...DEFAULT_OPTIONS, ...options };
  }

  /**
   * Calls `done` exactly once, with one result for each position: at once if all of them are known,
   * otherwise when they are, after some `maxWaitMillis`, or by `settle`.
   */
  lookup(positions: readonly GeneratedPosition[], done: (found: SourcePositionList) => void): void {
    const ask = () => ({ positions: this.#unknown(positions), calls: [], folders: [] });
    this.#ask(ask, () => done(positions.map((position) => this.#positionOf(position))));
  }

  /** For names: has the code of calls read, and packages. Calls `done` as `lookup` does. */
  read(calls: readonly GeneratedPosition[], folders: readonly string[], done: () => void): void {
    this.#ask(() => ({ positions: [], calls, folders }), done);
  }

  get isWaiting(): boolean {
    return this.#pending.size > 0;
  }

  /** Resolves when no lookup waits any more, after `maxWaitMillis` at most. */
  settled(): Promise<void> {
    if (!this.isWaiting) return Promise.resolve();
    return new Promise((resolve) => this.#whenSettled.push(resolve));
  }

  /** Answers all lookups now. Blocks for at most `waitMillis` if answers are under way. */
  settle(waitMillis = 0): void {
    const end = now() + waitMillis;
    do this.#thread?.receive(end - now());
    while (this.#pending.size > 0 && now() < end);
    this.#finishAll();
  }

  /** Answers what waits, and ends the thread. */
  stop(): void {
    this.settle();
    this.#thread?.terminate();
    this.#thread = undefined;
    this.#unanswered.clear();
  }

  #positionOf(position: GeneratedPosition): SourcePosition | undefined {
    const key = keyOf(position);
    return this.#known.has(key) ? this.#known.get(key) : positionIfUnread(position);
  }

  /** Those that are not known, and that may have another place in the source. */
  #unknown(positions: readonly GeneratedPosition[]): GeneratedPosition[] {
    const unknown = positions.filter(
      (position) => isOfFile(position.file) && !this.#known.has(keyOf(position)),
    );
    const isAsked = new Map<string, boolean>();
    let endsLeft = MAX_ENDS;
    for (const { file, offset } of unknown) {
      if (isAsked.get(file) === true) continue;
      const isNew = !this.#mapped.has(file) && !this.#options.isOff;
      if (isNew) remember(this.#mapped, file, --endsLeft < 0 || mayHaveMapOf(file));
      const mapped = this.#mapped.get(file);
      // Without an offset, the text of its file tells nothing.
      const isCompared = offset !== undefined && mapped !== 'never' && mayBeOfLoader(file);
      isAsked.set(file, mapped === true || isCompared);
    }
    return unknown.filter(({ file }) => isAsked.get(file));
  }

  /** Calls `done` at once if there is nothing to ask for, or nobody to be asked. */
  #ask(making: () => Omit<Question, 'id' | 'hasMaps'>, done: () => void): void {
    let isAsked = false;
    try {
      // Not traced: `@opentelemetry/instrumentation-fs` makes a span of each read.
      const parts = withoutTracing(making);
      const question = { ...parts, id: this.#nextId++, hasMaps: !this.#options.isOff };
      const size = parts.positions.length + parts.calls.length + parts.folders.length;
      isAsked = size > 0 && inRootContext(() => this.#send(question, done));
    } catch (error) {
      this.log.log('error', 'cannot find positions in the source', error);
    }
    if (!isAsked) this.#answer(done);
  }

  #send(question: Question, done: () => void): boolean {
    if (!this.#mayAsk || this.#unanswered.size >= MAX_UNANSWERED) return false;
    this.#thread ??= this.#startThread();
    if (this.#thread === undefined) return false;
    const { id } = question;
    this.#thread.ask(question);
    this.#unanswered.set(id, question);
    const until = Math.min(this.#until, now() + this.#options.maxWaitMillis);
    const onTimeout = () => {
      // After a block, timers come before messages.
      this.#thread?.receive();
      this.#finish(id);
    };
    const timer = setTimeout(() => this.#guarded(onTimeout), Math.max(0, until - now()));
    timer.unref();
    this.#pending.set(id, { done, until, timer });
    return true;
  }

  #startThread(): SourceMapThread | undefined {
    try {
      // A thread is not under the permission model of the process (observed on Node.js 20 to 26).
      if (permission()?.has('fs.read') === false)
        throw new Error('the permission model does not allow to read all files');
      const thread: SourceMapThread = new SourceMapThread(
        this.#options.idleMillis,
        (answer) => this.#guarded(() => this.#onAnswer(answer)),
        (error) => this.#guarded(() => this.#onEnd(thread, error)),
      );
      return thread;
    } catch (error) {
      this.#mayAsk = false;
      this.log.log('warn', `sourceMaps is off: ${(error as Error).message}`);
      return undefined;
    }
  }

  #onEnd(thread: SourceMapThread, error: unknown): void {
    if (thread !== this.#thread) return;
    thread.receive();
    this.#thread = undefined;
    if (error !== undefined) this.log.log('warn', 'the source map thread failed', error);
    // Whatever ended the thread would do so again.
    for (const { positions, calls, folders } of this.#unanswered.values()) {
      for (const { file } of positions) remember(this.#mapped, file, 'never');
      for (const call of calls) learnPassesOn(call, false);
      for (const folder of folders) learnPackage(folder, undefined);
    }
    this.#unanswered.clear();
    this.#finishAll();
  }

  /** Also for a lookup that no longer waits: the next one knows. */
  #onAnswer({ id, found, transformed, passesOn, dependencies, problems }: Answer): void {
    const question = this.#unanswered.get(id);
    if (question === undefined) return;
    this.#unanswered.delete(id);
    const { positions, calls, folders } = question;
    const made = transformed.map((i) => positions[i] as GeneratedPosition);
    const ofLoader = withoutTracing(() => positionsOfLoader(made, this.#options.isOff));
    positions.forEach((position, i) => {
      remember(this.#known, keyOf(position), ofLoader.get(position) ?? found[i]);
    });
    [...positions, ...calls].forEach((call, i) => {
      if (passesOn[i] !== undefined) learnPassesOn(call, passesOn[i]);
    });
    folders.forEach((folder, i) => {
      learnPackage(folder, dependencies[i]);
    });
    for (const [path, reason] of problems) {
      for (const { file } of positions)
        if (toPath(file) === path) remember(this.#mapped, file, false);
      if (reason !== undefined) this.log.log('info', 'a source map cannot be used', path, reason);
    }
    this.#finish(id);
  }

  /** An answer may lead to another lookup, which is answered as well. */
  #finishAll(): void {
    for (const id of this.#pending.keys()) this.#finish(id);
  }

  #finish(id: number): void {
    const lookup = this.#pending.get(id);
    if (lookup === undefined) return;
    this.#pending.delete(id);
    clearTimeout(lookup.timer);
    this.#until = lookup.until;
    this.#answer(lookup.done);
    this.#until = Number.POSITIVE_INFINITY;
    if (this.#pending.size === 0) for (const resolve of this.#whenSettled.splice(0)) resolve();
  }

  #answer(done: () => void): void {
    this.#guard.run('cannot use positions in the source', () => this.#options.asOwnWork(done));
  }

  /** For what Node.js calls: a throw would reach the host. */
  #guarded(action: () => void): void {
    this.#guard.run('internal error in the lookup of positions', action);
  }
}

/** Most of an application's blocks have the same frames: what is forgotten is soon known again. */
function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  if (map.size >= MAX_REMEMBERED) map.clear();
  map.set(key, value);
}

/** What the thread reads is not traced. */
const mayHaveMapOf = (file: string) =>
  tracesSyncIo() || attempt(() => mayHaveMap(toPath(file))) === true;

const permission = () => (process as { permission?: { has(scope: string): boolean } }).permission;

const keyOf = (position: GeneratedPosition) => {
  const { file, line, column, functionName, functionLine, functionColumn } = position;
  return [line, column, functionLine, functionColumn, functionName, file].join(':');
};
