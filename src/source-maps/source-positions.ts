/**
 * Positions in the source for positions in the code that runs. The main thread's side.
 *
 * Guarantees: it never reads or decodes the map of a file, waits only at the end of the process and
 * only shortly, never keeps the process alive, and never throws.
 */
import type { OnceLogger } from '../otel/diag-once.ts';
import { inRootContext } from '../otel/root-context.ts';
import { withoutTracing } from '../otel/sdk-internals.ts';
import { toPath } from '../support/file-url.ts';
import { attempt, Guard } from '../support/guard.ts';
import { listen, unlisten } from '../support/process-listeners.ts';
import { clearTimeout, now, setTimeout } from '../support/time.ts';
import { isOfFile, needsCompiler, transformedPositions, withoutLine } from './loaded-text.ts';
import { hasLoader, nodeHasSourceMaps, positionByNode, positionsByHost } from './loader-maps.ts';
import { Lru } from './lru.ts';
import { namesOnlyFiles, refersToMap } from './map-comment.ts';
import type { GeneratedPosition, SourcePosition, SourcePositionList } from './position.ts';
import type { SourceMapAnswer } from './source-map.worker.ts';
import { SourceMapThread } from './source-map-thread.ts';

export interface SourcePositionsOptions {
  /** A lookup waits at most this long for the thread; what is not known then is undefined. */
  readonly maxWaitMillis: number;
  /** A process that ends waits at most this long for what is under way, once. */
  readonly exitWaitMillis: number;
  /** A thread that was not asked for this long is ended. */
  readonly idleMillis: number;
}

const DEFAULT_OPTIONS: SourcePositionsOptions = {
  maxWaitMillis: 1000,
  exitWaitMillis: 100,
  idleMillis: 30_000,
};

/** Positions that are remembered: some 100 blocks with stacks of 50 different frames. */
const MAX_POSITIONS = 5000;
/** Files of which it is remembered whether they have a map. */
const MAX_FILES = 5000;
/** Lookups that may wait. More than that are answered with what is known. */
const MAX_PENDING = 100;
/** A thread that ends by itself is started again this often. */
const MAX_RESTARTS = 3;

type Done = (found: SourcePositionList) => void;

interface Lookup {
  readonly positions: readonly GeneratedPosition[];
  /** Asked of the thread. */
  readonly asked: readonly GeneratedPosition[];
  readonly done: Done;
  readonly timer: NodeJS.Timeout;
}

export class SourcePositions {
  readonly #known = new Lru<string, SourcePosition | undefined>(MAX_POSITIONS);
  readonly #mayHaveMap = new Lru<string, boolean>(MAX_FILES);
  readonly #mayNodeOpen = new Lru<string, boolean>(MAX_FILES);
  readonly #pending = new Map<number, Lookup>();
  readonly #options: SourcePositionsOptions;
  readonly #guard: Guard;
  #thread: SourceMapThread | undefined;
  #nextId = 0;
  #restarts = 0;
  #isLost = false;
  #isStopped = false;
  #exitWaitMillis: number;
  #whenSettled: (() => void)[] = [];

  constructor(
    private readonly log: Pick<OnceLogger, 'log'>,
    options: Partial<SourcePositionsOptions> = {},
  ) {
    this.#guard = new Guard(log);
    this.#options = { ...DEFAULT_OPTIONS, ...options };
    this.#exitWaitMillis = this.#options.exitWaitMillis;
  }

  /**
   * Calls `done` exactly once, with one result for each position: at once if all of them are known,
   * otherwise when the thread has answered, after `maxWaitMillis`, or when the process ends.
   */
  lookup(positions: readonly GeneratedPosition[], done: Done): void {
    try {
      // Not traced: `@opentelemetry/instrumentation-fs` makes a span of each read.
      const asked = withoutTracing(() => this.#unknown(positions));
      if (asked.length > 0 && this.#pending.size < MAX_PENDING) {
        inRootContext(() => this.#ask(positions, asked, done));
        return;
      }
    } catch (error) {
      this.log.log('error', 'cannot find positions in the source', error);
    }
    this.#answer(positions, done);
  }

  /** Resolves when no lookup waits any more, after `maxWaitMillis` at most. */
  settled(): Promise<void> {
    if (this.#pending.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenSettled.push(resolve));
  }

  /** Answers all lookups now. Blocks for at most `waitMillis` if answers are under way. */
  settle(waitMillis = 0): void {
    const end = now() + waitMillis;
    this.#thread?.receive();
    while (this.#pending.size > 0 && this.#thread?.waitForAnswer(end - now()))
      this.#thread.receive();
    this.#finishAll();
  }

  /** Answers what waits, and ends the thread. Later lookups are answered with what is known. */
  stop(): void {
    this.#isStopped = true;
    this.settle();
    this.#thread?.end();
  }

  start(): void {
    this.#isStopped = false;
  }

  /** The positions that only the thread can resolve. */
  #unknown(positions: readonly GeneratedPosition[]): GeneratedPosition[] {
    const isUnknown = (position: GeneratedPosition) =>
      isOfFile(position.file) && !this.#known.has(keyOf(position));
    this.#findOfLoader(positions.filter(isUnknown));
    if (this.#isLost || this.#isStopped) return [];
    return positions.filter(isUnknown).filter((position) => {
      const { file } = position;
      const mayHaveMap = remembered(this.#mayHaveMap, file, () => this.#isMapped(file));
      if (!mayHaveMap) this.#known.set(keyOf(position), undefined);
      return mayHaveMap;
    });
  }

  /** Finds those of code that a loader has made in memory: its map is in no file. */
  #findOfLoader(positions: readonly GeneratedPosition[]): void {
    const transformed = transformedPositions(positions, hasLoader());
    const find = (position: GeneratedPosition, source: SourcePosition | undefined) => {
      if (source !== undefined) this.#known.set(keyOf(position), source);
      return source !== undefined;
    };
    const byNode = new Set<GeneratedPosition>();
    for (const position of nodeHasSourceMaps() ? positions : []) {
      const { file } = position;
      if (!transformed.has(position) && !needsCompiler(file)) continue;
      // Node.js opens whatever a file's comment names: a device would never end.
      const mayOpen = () => attempt(() => namesOnlyFiles(toPath(file))) ?? false;
      if (!remembered(this.#mayNodeOpen, file, mayOpen)) continue;
      if (find(position, positionByNode(position))) byNode.add(position);
    }
    const rest = [...transformed].filter((position) => !byNode.has(position));
    const byHost = positionsByHost(rest);
    rest.forEach((position, i) => {
      const isFound = find(position, byHost[i]);
      if (!isFound && needsCompiler(position.file)) find(position, withoutLine(position));
    });
  }

  #isMapped(file: string): boolean {
    const path = toPath(file);
    // A thread without the host's flags is not under its permission model (observed on Node.js 20
    // to 26).
    const mayRead = (its: string) => permission()?.has('fs.read', its) ?? true;
    if (mayRead(path) && mayRead(`${path}.map`)) return attempt(() => refersToMap(path)) ?? true;
    this.log.log('info', 'the permission model forbids to read a source map', file);
    return false;
  }

  #ask(
    positions: readonly GeneratedPosition[],
    asked: readonly GeneratedPosition[],
    done: Done,
  ): void {
    if (this.#thread === undefined || this.#thread.hasEnded) this.#thread = this.#startThread();
    if (this.#thread === undefined) {
      this.#answer(positions, done);
      return;
    }
    const id = this.#nextId++;
    const onTimeout = () => {
      // After a block, timers come before messages.
      this.#thread?.receive();
      this.#finish(id);
    };
    const timer = setTimeout(() => this.#guarded(onTimeout), this.#options.maxWaitMillis);
    timer.unref();
    if (this.#pending.size === 0) {
      // First: the application may shut its SDK down there.
      listen('beforeExit', this.#onEnd, true);
      listen('exit', this.#onEnd, true);
    }
    this.#pending.set(id, { positions, asked, done, timer });
    this.#thread.ask({ id, positions: asked });
  }

  #startThread(): SourceMapThread | undefined {
    try {
      return new SourceMapThread(this.#options.idleMillis, permission() !== undefined, {
        onAnswer: (answer) => this.#guarded(() => this.#onAnswer(answer)),
        onError: (error) => this.log.log('warn', 'the source map thread failed', error),
        onFailure: () => this.#guarded(() => this.#onFailure()),
      });
    } catch (error) {
      this.#lose(error instanceof Error ? error.message : String(error));
      return undefined;
    }
  }

  #onFailure(): void {
    // Whatever ended the thread would do so again.
    for (const { asked } of this.#pending.values())
      for (const { file } of asked) this.#mayHaveMap.set(file, false);
    this.#finishAll();
    if (this.#restarts++ === MAX_RESTARTS)
      this.#lose(`its thread has ended ${MAX_RESTARTS + 1} times`);
  }

  #lose(reason: string): void {
    this.#isLost = true;
    this.log.log('warn', `sourceMaps is off: ${reason}`);
  }

  /** Also for a lookup that no longer waits: the next one knows. */
  #onAnswer({ id, asked, found, problems }: SourceMapAnswer): void {
    asked.forEach((position, i) => {
      this.#known.set(keyOf(position), found[i]);
    });
    for (const { problem, file } of problems) {
      this.#mayHaveMap.set(file, false);
      this.log.log('info', `a source map is ${problem}`, file);
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
    if (this.#pending.size === 0) {
      attempt(() => {
        unlisten('beforeExit', this.#onEnd);
        unlisten('exit', this.#onEnd);
      });
    }
    if (this.#pending.size === 0) for (const resolve of this.#whenSettled.splice(0)) resolve();
    this.#answer(lookup.positions, lookup.done);
  }

  #answer(positions: readonly GeneratedPosition[], done: Done): void {
    try {
      done(positions.map((position) => this.#known.get(keyOf(position))));
    } catch (error) {
      this.log.log('error', 'cannot use positions in the source', error);
    }
  }

  /** For what Node.js calls: a throw would reach the host. */
  #guarded(action: () => void): void {
    this.#guard.run('internal error in the lookup of positions', action);
  }

  readonly #onEnd = (): void => {
    this.#guarded(() => {
      const waitMillis = this.#exitWaitMillis;
      this.#exitWaitMillis = 0;
      this.settle(waitMillis);
    });
  };
}

/**
 * For `sourceMaps: false`: code that a loader made has no line; nothing else is looked up. Never
 * throws.
 */
export function lookUpWithoutMaps() {
  const known = new Lru<string, SourcePosition | undefined>(MAX_POSITIONS);
  return (positions: readonly GeneratedPosition[], done: Done): void => {
    const unknown = positions.filter((position) => !known.has(keyOf(position)));
    const transformed = withoutTracing(() => transformedPositions(unknown, hasLoader()));
    for (const position of unknown) {
      const source = transformed.has(position) ? withoutLine(position) : undefined;
      known.set(keyOf(position), source);
    }
    done(positions.map((position) => known.get(keyOf(position))));
  };
}

function remembered(lru: Lru<string, boolean>, file: string, find: () => boolean): boolean {
  const known = lru.get(file);
  if (known !== undefined) return known;
  const found = find();
  lru.set(file, found);
  return found;
}

const permission = () =>
  (process as { permission?: { has(scope: string, reference: string): boolean } }).permission;

const keyOf = (position: GeneratedPosition) => {
  const { file, line, column, functionName, functionLine, functionColumn } = position;
  return [line, column, functionLine, functionColumn, functionName, file].join(':');
};
