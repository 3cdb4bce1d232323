/**
 * Positions in the source for positions in the code that runs. The main thread's side: it never
 * reads or decodes the map of a file, waits only at the end of the process, and never keeps the
 * process alive.
 */
import { AsyncResource } from 'node:async_hooks';
import { clearTimeout, setTimeout } from 'node:timers';
import type { OnceLogger } from '../otel/diag-once.ts';
import { withoutTracing } from '../otel/sdk-internals.ts';
import { toPath } from '../support/file-url.ts';
import { attempt, Guard } from '../support/guard.ts';
import { isOfFile, LoadedText, needsCompiler, withoutLine } from './loaded-text.ts';
import { hasLoader, positionsByHost } from './loader-maps.ts';
import { Lru } from './lru.ts';
import { namesOnlyFiles, refersToMap } from './map-comment.ts';
import { nodeHasSourceMaps, positionByNode } from './node-source-maps.ts';
import type { CodePosition, SourcePosition, SourcePositionList } from './position.ts';
import { SourceMapThread } from './source-map-thread.ts';
import type { SourceMapAnswer } from './thread-protocol.ts';

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
  readonly positions: readonly (CodePosition | undefined)[];
  /** Asked of the thread. */
  readonly asked: readonly CodePosition[];
  readonly done: Done;
  readonly timer: NodeJS.Timeout;
}

export class SourcePositions {
  readonly #known = new Lru<string, SourcePosition | undefined>(MAX_POSITIONS);
  readonly #mayHaveMap = new Lru<string, boolean>(MAX_FILES);
  readonly #opensByNode = new Lru<string, boolean>(MAX_FILES);
  readonly #loadedText = new LoadedText();
  readonly #pending = new Map<number, Lookup>();
  /** Timers and ports keep the context in which they are created: not that of a request. */
  readonly #scope = new AsyncResource('EventLoopSourcePositions');
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
   * `undefined` in `positions` stays so.
   */
  lookup(positions: readonly (CodePosition | undefined)[], done: Done): void {
    try {
      const asked = this.#unknown(positions);
      if (asked.length > 0 && this.#pending.size < MAX_PENDING) {
        this.#scope.runInAsyncScope(() => this.#ask(positions, asked, done));
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
    const end = performance.now() + waitMillis;
    for (;;) {
      const before = this.#thread?.answerCount ?? 0;
      this.#thread?.receive();
      const left = end - performance.now();
      if (this.#pending.size === 0 || left <= 0) break;
      if (!this.#thread?.waitForMoreThan(before, left)) break;
    }
    this.#thread?.receive();
    this.#finishAll();
  }

  /** Answers what waits, and ends the thread. Later lookups are answered with what is known. */
  stop(): void {
    this.#isStopped = true;
    this.settle();
    this.#endThread();
  }

  start(): void {
    this.#isStopped = false;
  }

  /** The positions that only the thread can resolve. */
  #unknown(positions: readonly (CodePosition | undefined)[]): CodePosition[] {
    const isNew = (position: CodePosition | undefined): position is CodePosition =>
      position !== undefined && isOfFile(position.file) && !this.#known.has(keyOf(position));
    const unknown = positions.filter(isNew);
    for (const [position, source] of this.#ofLoader(unknown))
      this.#known.set(keyOf(position), source);
    if (this.#isLost || this.#isStopped) return [];
    return unknown.filter((each) => !this.#known.has(keyOf(each)) && this.#isMapped(each.file));
  }

  /**
   * Those of code that a loader has made in memory: its map is in no file, so Node.js or the loader
   * decodes it here. It is the map of one source file.
   */
  #ofLoader(positions: readonly CodePosition[]): Map<CodePosition, SourcePosition> {
    const found = new Map<CodePosition, SourcePosition>();
    const transformed = withoutTracing(() => this.#loadedText.transformed(positions, hasLoader()));
    const byNode = nodeHasSourceMaps();
    for (const position of positions) {
      const isMade = transformed.has(position) || needsCompiler(position.file);
      const source =
        byNode && isMade && this.#mayNodeOpen(position.file) && positionByNode(position);
      if (source) found.set(position, source);
    }
    const rest = [...transformed].filter((position) => !found.has(position));
    const byHost = positionsByHost(rest);
    rest.forEach((position, i) => {
      const source = byHost[i] ?? (needsCompiler(position.file) && withoutLine(position));
      if (source) found.set(position, source);
    });
    return found;
  }

  /** Node.js opens whatever a file's comment names: a device would never end. */
  #mayNodeOpen(file: string): boolean {
    return remembered(this.#opensByNode, file, () => {
      return withoutTracing(() => attempt(() => namesOnlyFiles(toPath(file))) ?? false);
    });
  }

  #isMapped(file: string): boolean {
    return remembered(this.#mayHaveMap, file, () => {
      if (!mayRead(file)) {
        this.log.log('info', 'the permission model forbids to read a source map', file);
        return false;
      }
      // Not traced: `@opentelemetry/instrumentation-fs` makes a span of each call.
      return withoutTracing(() => attempt(() => refersToMap(toPath(file))) ?? true);
    });
  }

  #ask(
    positions: readonly (CodePosition | undefined)[],
    asked: readonly CodePosition[],
    done: Done,
  ): void {
    this.#thread ??= this.#startThread();
    if (this.#thread === undefined) {
      this.#answer(positions, done);
      return;
    }
    const id = this.#nextId++;
    const timer = setTimeout(
      () => this.#guarded(() => this.#onTimeout(id)),
      this.#options.maxWaitMillis,
    );
    timer.unref();
    if (this.#pending.size === 0) {
      // First: the application may shut its SDK down there.
      process.prependListener('beforeExit', this.#onEnd);
      process.prependListener('exit', this.#onEnd);
    }
    this.#pending.set(id, { positions, asked, done, timer });
    this.#thread.ask({ id, positions: asked });
  }

  #startThread(): SourceMapThread | undefined {
    try {
      const hasPermissions = permission() !== undefined;
      const thread = new SourceMapThread(this.#options.idleMillis, hasPermissions, {
        onAnswer: (answer) => this.#guarded(() => this.#onAnswer(answer)),
        onError: (error) => this.log.log('warn', 'the source map thread failed', error),
        onExit: () => this.#guarded(() => this.#onThreadExit(thread)),
        onIdle: () => this.#guarded(() => this.#onIdle()),
      });
      return thread;
    } catch (error) {
      this.#lose(error instanceof Error ? error.message : String(error));
      return undefined;
    }
  }

  #endThread(): void {
    this.#thread?.end();
    this.#thread = undefined;
  }

  #onThreadExit(thread: SourceMapThread): void {
    if (thread !== this.#thread) return;
    thread.receive();
    this.#endThread();
    // Whatever ended it would do so again.
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

  #onIdle(): void {
    if (this.#pending.size === 0) this.#endThread();
    else this.#thread?.stayAlive();
  }

  #onTimeout(id: number): void {
    // After a block, timers come before messages.
    this.#thread?.receive();
    this.#finish(id);
  }

  /** Also for a lookup that no longer waits: the next one knows. */
  #onAnswer({ id, asked, found, unmapped, problems }: SourceMapAnswer): void {
    for (const file of unmapped) this.#mayHaveMap.set(file, false);
    asked.forEach((position, i) => {
      if (!unmapped.includes(position.file)) this.#known.set(keyOf(position), found[i]);
    });
    for (const { problem, file } of problems)
      this.log.log('info', `a source map is ${problem}`, file);
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
        process.off('beforeExit', this.#onEnd);
        process.off('exit', this.#onEnd);
      });
    }
    this.#answer(lookup.positions, lookup.done);
    if (this.#pending.size === 0) for (const resolve of this.#whenSettled.splice(0)) resolve();
  }

  #answer(positions: readonly (CodePosition | undefined)[], done: Done): void {
    try {
      done(positions.map((position) => position && this.#known.get(keyOf(position))));
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
  const loadedText = new LoadedText();
  return (positions: readonly CodePosition[], done: Done): void => {
    const transformed = withoutTracing(() => loadedText.transformed(positions, hasLoader()));
    done(
      positions.map((position) => (transformed.has(position) ? withoutLine(position) : undefined)),
    );
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

/**
 * A thread without the host's flags is not under its permission model (observed on Node.js 20 to
 * 26).
 */
function mayRead(file: string): boolean {
  const model = permission();
  if (model === undefined) return true;
  const its = toPath(file);
  return model.has('fs.read', its) && model.has('fs.read', `${its}.map`);
}

const keyOf = ({ file, line, column, functionName, functionLine, functionColumn }: CodePosition) =>
  functionLine === undefined
    ? `${line}:${column} ${file}`
    : `${line}:${column}:${functionLine}:${functionColumn}:${functionName} ${file}`;
