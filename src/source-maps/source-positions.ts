/**
 * Positions in the source for positions in the code that runs. The main thread's side: it never
 * reads or decodes a map, never waits but at the end of the process, and never keeps the process
 * alive.
 */
import { AsyncResource } from 'node:async_hooks';
import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import path from 'node:path';
import { clearTimeout, setTimeout } from 'node:timers';
import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  Worker,
} from 'node:worker_threads';
import type { OnceLogger } from '../otel/diag-once.ts';
import { withoutTracing } from '../otel/sdk-internals.ts';
import { toPath } from '../support/file-url.ts';
import { isFile } from '../support/files.ts';
import { attempt, Guard } from '../support/guard.ts';
import { SOURCE_MAP_CODE } from '../worker-code.generated.ts';
import { isOfFile, LoadedText, needsCompiler, withoutLine } from './loaded-text.ts';
import { hasLoader, positionsByHost } from './loader-maps.ts';
import { Lru } from './lru.ts';
import { nodeHasSourceMaps, positionByNode } from './node-source-maps.ts';
import type { CodePosition, SourcePosition, SourcePositionList } from './position.ts';
import type { SourceMapAnswer, SourceMapRequest, SourceMapThreadData } from './thread-protocol.ts';

export interface SourcePositionsOptions {
  /** So long a lookup waits for the thread; what is not known then is undefined. */
  readonly maxWaitMillis: number;
  /** So long a process that ends waits for what is under way, once. */
  readonly exitWaitMillis: number;
  /** A thread that was not asked for so long is ended. */
  readonly idleMillis: number;
}

export const DEFAULT_OPTIONS: SourcePositionsOptions = {
  maxWaitMillis: 1000,
  exitWaitMillis: 100,
  idleMillis: 30_000,
};

/**
 * Positions that are remembered: some 100 blocks with stacks of 50 frames that are all different.
 */
const MAX_POSITIONS = 5000;
/** Files that are remembered to have no map. */
const MAX_UNMAPPED_FILES = 5000;
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

interface Thread {
  readonly worker: Worker;
  readonly port: MessagePort;
  readonly answers: Int32Array;
  readonly idleTimer: NodeJS.Timeout;
}

export class SourcePositions {
  readonly #known = new Lru<string, SourcePosition | undefined>(MAX_POSITIONS);
  readonly #unmapped = new Lru<string, true>(MAX_UNMAPPED_FILES);
  readonly #mapped = new Lru<string, true>(MAX_UNMAPPED_FILES);
  readonly #loadedText = new LoadedText();
  readonly #opensByNode = new Lru<string, boolean>(MAX_UNMAPPED_FILES);
  readonly #pending = new Map<number, Lookup>();
  /**
   * What is created and called here belongs to no request: timers and ports would keep the context
   * of one.
   */
  readonly #scope = new AsyncResource('EventLoopSourcePositions');
  readonly #options: SourcePositionsOptions;
  readonly #guard: Guard;
  #thread: Thread | undefined;
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
   * Calls `done` exactly once, with one result for each position: at once where all of them are
   * known, otherwise when the thread has answered, after `maxWaitMillis`, or when the process ends.
   * `undefined` in `positions` stays so.
   */
  lookup(positions: readonly (CodePosition | undefined)[], done: Done): void {
    let asked: CodePosition[] = [];
    try {
      asked = this.#unknown(positions);
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

  /**
   * Answers all lookups now. Blocks the thread for `waitMillis` at most where answers are under
   * way.
   */
  settle(waitMillis = 0): void {
    const end = performance.now() + waitMillis;
    for (;;) {
      const { answers } = this.#thread ?? {};
      const before = answers === undefined ? 0 : Atomics.load(answers, 0);
      this.#receive();
      const left = end - performance.now();
      if (this.#pending.size === 0 || answers === undefined || left <= 0) break;
      if (Atomics.wait(answers, 0, before, left) === 'timed-out') break;
    }
    this.#receive();
    for (const id of [...this.#pending.keys()]) this.#finish(id);
  }

  /**
   * Answers what waits, and ends the thread. A lookup after that is answered with what is known.
   */
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
    const asked: CodePosition[] = [];
    const isNew = (position: CodePosition | undefined): position is CodePosition =>
      position !== undefined && isOfFile(position.file) && !this.#known.has(keyOf(position));
    const unknown = positions.filter(isNew);
    const loaded = this.#loaded(unknown);
    for (const position of unknown) {
      const found = loaded.get(position);
      if (found !== undefined) this.#known.set(keyOf(position), found);
      else if (this.#unmapped.get(position.file)) continue;
      else if (this.#isLost || this.#isStopped) continue;
      else if (mayRead(position.file)) {
        if (this.#mayBeMapped(position.file)) asked.push(position);
      } else {
        this.#unmapped.set(position.file, true);
        this.log.log('info', 'the permission model forbids to read a source map', position.file);
      }
    }
    return asked;
  }

  /** What Node.js knows, and code that a loader made, of which the thread finds no map. */
  #loaded(positions: readonly CodePosition[]): Map<CodePosition, SourcePosition> {
    const found = new Map<CodePosition, SourcePosition>();
    const transformed = withoutTracing(() => this.#loadedText.transformed(positions, hasLoader()));
    const byNode = nodeHasSourceMaps();
    for (const position of positions) {
      const source = byNode && this.#mayNodeOpen(position.file) && positionByNode(position);
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
    const known = this.#opensByNode.get(file);
    if (known !== undefined) return known;
    const may = withoutTracing(() => attempt(() => namesOnlyFiles(toPath(file))) ?? false);
    this.#opensByNode.set(file, may);
    return may;
  }

  #mayBeMapped(file: string): boolean {
    if (this.#mapped.has(file)) return true;
    // Not traced: `@opentelemetry/instrumentation-fs` makes a span of each call.
    const isMapped = withoutTracing(() => attempt(() => refersToMap(file)) ?? true);
    (isMapped ? this.#mapped : this.#unmapped).set(file, true);
    return isMapped;
  }

  #ask(
    positions: readonly (CodePosition | undefined)[],
    asked: readonly CodePosition[],
    done: Done,
  ): void {
    const thread = this.#thread ?? this.#startThread();
    if (thread === undefined) {
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
    thread.idleTimer.refresh();
    thread.port.postMessage({ id, positions: asked } satisfies SourceMapRequest);
  }

  #startThread(): Thread | undefined {
    try {
      const { port1: port, port2 } = new MessageChannel();
      const answers = new Int32Array(new SharedArrayBuffer(4));
      const worker = new Worker(SOURCE_MAP_CODE, {
        eval: true,
        name: 'event-loop-source-maps',
        argv: [],
        // Neither the host's flags nor its environment: a preload of the host has nothing to do in
        // there.
        execArgv: [],
        env: {},
        stdout: true,
        stderr: true,
        trackUnmanagedFds: false,
        // Maps are kept as bytes, outside of the heap.
        resourceLimits: {
          maxOldGenerationSizeMb: 128,
          maxYoungGenerationSizeMb: 4,
          stackSizeMb: 1,
        },
        workerData: {
          port: port2,
          answers,
          onlyBeside: permission() !== undefined,
        } satisfies SourceMapThreadData,
        transferList: [port2],
      });
      const idleTimer = setTimeout(
        () => this.#guarded(() => this.#onIdle()),
        this.#options.idleMillis,
      );
      idleTimer.unref();
      const thread: Thread = { worker, port, answers, idleTimer };
      this.#thread = thread;
      worker.on('error', (error) => this.log.log('warn', 'the source map thread failed', error));
      worker.on('exit', () => this.#guarded(() => this.#onThreadExit(thread)));
      worker.unref();
      port.on('message', (answer: SourceMapAnswer) => this.#guarded(() => this.#onAnswer(answer)));
      port.unref();
      return thread;
    } catch (error) {
      this.#lose(error instanceof Error ? error.message : String(error));
      return undefined;
    }
  }

  #endThread(): void {
    const thread = this.#thread;
    if (thread === undefined) return;
    this.#thread = undefined;
    clearTimeout(thread.idleTimer);
    thread.port.close();
    thread.worker.terminate().catch(() => {});
  }

  #onThreadExit(thread: Thread): void {
    if (thread !== this.#thread) return;
    this.#receive();
    this.#endThread();
    // Whatever ended it would do so again.
    for (const { asked } of this.#pending.values()) {
      for (const { file } of asked) this.#unmapped.set(file, true);
    }
    for (const id of [...this.#pending.keys()]) this.#finish(id);
    if (this.#restarts++ === MAX_RESTARTS)
      this.#lose(`its thread has ended ${MAX_RESTARTS + 1} times`);
  }

  #lose(reason: string): void {
    this.#isLost = true;
    this.log.log('warn', `sourceMaps is off: ${reason}`);
  }

  #onIdle(): void {
    if (this.#pending.size === 0) this.#endThread();
    else this.#thread?.idleTimer.refresh();
  }

  #onTimeout(id: number): void {
    // After a block, timers come before messages.
    this.#receive();
    if (this.#pending.has(id)) this.#finish(id);
  }

  /** Takes the answers that have arrived. */
  #receive(): void {
    const { port } = this.#thread ?? {};
    if (port === undefined) return;
    for (
      let next = receiveMessageOnPort(port);
      next !== undefined;
      next = receiveMessageOnPort(port)
    ) {
      this.#onAnswer(next.message as SourceMapAnswer);
    }
  }

  /** Also for a lookup that did not wait so long: the next one knows. */
  #onAnswer({ id, asked, found, unmapped, problems }: SourceMapAnswer): void {
    for (const file of unmapped) this.#unmapped.set(file, true);
    asked.forEach((position, i) => {
      if (!this.#unmapped.has(position.file)) this.#known.set(keyOf(position), found[i]);
    });
    for (const { problem, file } of problems)
      this.log.log('info', `a source map is ${problem}`, file);
    if (this.#pending.has(id)) this.#finish(id);
  }

  #finish(id: number): void {
    const lookup = this.#pending.get(id);
    if (lookup === undefined) return;
    this.#pending.delete(id);
    clearTimeout(lookup.timer);
    if (this.#pending.size === 0) {
      process.off('beforeExit', this.#onEnd);
      process.off('exit', this.#onEnd);
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
  return (positions: readonly CodePosition[], done: (found: SourcePositionList) => void): void => {
    const transformed = withoutTracing(() => loadedText.transformed(positions, hasLoader()));
    done(
      positions.map((position) => (transformed.has(position) ? withoutLine(position) : undefined)),
    );
  };
}

/** Bytes at the end of a file in which it says where its map is. */
const TAIL_BYTES = 2048;
const COMMENT = 'sourceMappingURL=';

/**
 * Whether a file may have a source map: some 50 µs, once per file. Most files have none, and asking
 * the thread would delay the report of a block.
 */
function refersToMap(file: string): boolean {
  const itsPath = toPath(file);
  if (existsSync(`${itsPath}.map`)) return true;
  const tail = tailOf(itsPath);
  // Where the last line is longer than the tail, an inline map may be in it.
  return (
    tail !== undefined &&
    (tail.includes(COMMENT) || (statSync(itsPath).size > TAIL_BYTES && !tail.includes('\n')))
  );
}

/** Whether the map that a file names, if it names one, is in it or an ordinary file. */
function namesOnlyFiles(file: string): boolean {
  if (!existsSync(file)) return true;
  const tail = tailOf(file);
  if (tail === undefined) return false;
  const start = tail.lastIndexOf(COMMENT);
  if (start === -1) return true;
  const [url = ''] = tail.slice(start + COMMENT.length).split(/\s/);
  return url.startsWith('data:') || isFile(path.resolve(path.dirname(file), decodeURI(url)));
}

/** Undefined if it is no ordinary file. */
function tailOf(file: string): string | undefined {
  if (!isFile(file)) return undefined;
  const descriptor = openSync(file, 'r');
  try {
    const { size } = fstatSync(descriptor);
    const buffer = Buffer.alloc(Math.min(size, TAIL_BYTES));
    readSync(descriptor, buffer, 0, buffer.length, Math.max(0, size - buffer.length));
    return buffer.toString('latin1').trimEnd();
  } finally {
    closeSync(descriptor);
  }
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
