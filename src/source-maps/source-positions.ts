/**
 * Positions in the source for positions in the code that runs. The main thread's side.
 *
 * Guarantees: it never reads or decodes the map of a file, waits only if {@link
 * SourcePositions.settle} is told to, never keeps the process alive, and never throws.
 */
import type { OnceLogger } from '../otel/diag-once.ts';
import { inRootContext } from '../otel/root-context.ts';
import { withoutTracing } from '../otel/sdk-internals.ts';
import { toPath } from '../support/file-url.ts';
import { attempt, Guard } from '../support/guard.ts';
import { tracesSyncIo } from '../support/schedstat.ts';
import { clearTimeout, now, setTimeout } from '../support/time.ts';
import { isOfFile, readText } from './loaded-text.ts';
import { positionsOfLoader } from './loader-maps.ts';
import { mayHaveMap } from './map-of.ts';
import type { GeneratedPosition, SourcePosition, SourcePositionList } from './position.ts';
import type { SourceMapAnswer } from './source-map.worker.ts';
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

interface Lookup {
  readonly positions: readonly GeneratedPosition[];
  /** Those of the thread. */
  readonly asked: readonly GeneratedPosition[];
  readonly done: (found: SourcePositionList) => void;
  timer?: NodeJS.Timeout;
}

export class SourcePositions {
  readonly #known = new Map<string, SourcePosition | undefined>();
  /** By file. */
  readonly #mapped = new Map<string, boolean>();
  readonly #pending = new Map<number, Lookup>();
  readonly #options: typeof DEFAULT_OPTIONS;
  readonly #guard: Guard;
  #thread: SourceMapThread | undefined;
  #nextId = 0;
  #mayAsk: boolean;
  #whenSettled: (() => void)[] = [];

  constructor(
    private readonly log: Pick<OnceLogger, 'log'>,
    options: Partial<typeof DEFAULT_OPTIONS> = {},
  ) {
    this.#guard = new Guard(log);
    this.#options = { ...DEFAULT_OPTIONS, ...options };
    this.#mayAsk = !this.#options.isOff;
  }

  /**
   * Calls `done` exactly once, with one result for each position: at once if all of them are known,
   * otherwise when they are, after some `maxWaitMillis`, or by `settle`.
   */
  lookup(positions: readonly GeneratedPosition[], done: Lookup['done']): void {
    const id = this.#nextId++;
    try {
      // Not traced: `@opentelemetry/instrumentation-fs` makes a span of each read.
      const asked = withoutTracing(() => this.#unknown(positions));
      if (asked.length > 0) {
        inRootContext(() => this.#ask(id, { positions, asked, done }));
        return;
      }
    } catch (error) {
      this.log.log('error', 'cannot find positions in the source', error);
    }
    if (this.#pending.has(id)) this.#finish(id);
    else this.#answer(positions, done);
  }

  /** Resolves when no lookup waits any more, after `maxWaitMillis` at most. */
  settled(): Promise<void> {
    if (this.#pending.size === 0) return Promise.resolve();
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
  }

  /** The positions that only the thread can find; the others are known now. */
  #unknown(positions: readonly GeneratedPosition[]): GeneratedPosition[] {
    const unknown = positions.filter(
      (position) => isOfFile(position.file) && !this.#known.has(keyOf(position)),
    );
    const ofLoader = positionsOfLoader(unknown, readText, this.#options.isOff);
    return unknown.filter((position) => {
      const source = ofLoader.get(position);
      const isAsked = source === undefined && this.#mayAsk && this.#isMapped(position.file);
      if (!isAsked) remember(this.#known, keyOf(position), source);
      return isAsked;
    });
  }

  #ask(id: number, lookup: Lookup): void {
    this.#thread ??= this.#startThread();
    if (this.#thread === undefined) {
      this.#answer(lookup.positions, lookup.done);
      return;
    }
    this.#pending.set(id, lookup);
    const onTimeout = () => {
      // After a block, timers come before messages.
      this.#thread?.receive();
      this.#finish(id);
    };
    lookup.timer = setTimeout(() => this.#guarded(onTimeout), this.#options.maxWaitMillis);
    lookup.timer.unref();
    this.#thread.ask(id, lookup.asked);
  }

  #isMapped(file: string): boolean {
    let isMapped = this.#mapped.get(file);
    if (isMapped === undefined) {
      // What the thread reads is not traced.
      isMapped = tracesSyncIo() || attempt(() => mayHaveMap(toPath(file))) === true;
      remember(this.#mapped, file, isMapped);
    }
    return isMapped;
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
    for (const { asked } of this.#pending.values())
      for (const { file } of asked) remember(this.#mapped, file, false);
    this.#finishAll();
  }

  /** Also for a lookup that no longer waits: the next one knows. */
  #onAnswer({ id, asked, found, problems }: SourceMapAnswer): void {
    asked.forEach((position, i) => {
      remember(this.#known, keyOf(position), found[i]);
    });
    for (const [file, reason] of problems) {
      remember(this.#mapped, file, false);
      if (reason !== undefined) this.log.log('info', 'a source map cannot be used', file, reason);
    }
    this.#finish(id);
  }

  #finishAll(): void {
    for (const id of [...this.#pending.keys()]) this.#finish(id);
  }

  #finish(id: number): void {
    const lookup = this.#pending.get(id);
    if (lookup === undefined) return;
    this.#pending.delete(id);
    clearTimeout(lookup.timer);
    if (this.#pending.size === 0) for (const resolve of this.#whenSettled.splice(0)) resolve();
    this.#answer(lookup.positions, lookup.done);
  }

  #answer(positions: readonly GeneratedPosition[], done: Lookup['done']): void {
    const found = positions.map((position) => this.#known.get(keyOf(position)));
    this.#guard.run('cannot use positions in the source', () =>
      this.#options.asOwnWork(() => done(found)),
    );
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

const permission = () => (process as { permission?: { has(scope: string): boolean } }).permission;

const keyOf = (position: GeneratedPosition) => {
  const { file, line, column, functionName, functionLine, functionColumn } = position;
  return [line, column, functionLine, functionColumn, functionName, file].join(':');
};
