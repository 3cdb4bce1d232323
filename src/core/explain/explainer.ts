/**
 * Has blocks explained by a thread. The main thread's side.
 *
 * Guarantees: it reads no file; it copies and passes on in turns of a millisecond; each block is
 * explained once, after ten seconds at most, if need be without what files say; it waits only if
 * {@link Explainer.settle} is told to, never keeps the process alive, and never throws.
 */
import type { Block, WeightedSample } from '../../block.ts';
import type { OnceLogger } from '../../otel/diag-once.ts';
import { inRootContext } from '../../otel/root-context.ts';
import { withoutTracing } from '../../otel/sdk-internals.ts';
import { Guard } from '../../support/guard.ts';
import { Slices } from '../../support/slices.ts';
import { clearTimeout, now, setTimeout } from '../../support/time.ts';
import type { Explanation } from './explain.ts';
import { ExplainThread } from './explain-thread.ts';
import { describeCode, type SampledCode } from './name/describe-code.ts';
import type { OriginOf, OriginOptions } from './name/in-app.ts';
import { learnPackages } from './name/packages.ts';
import type { Reply } from './protocol.ts';
import { BlockRecorder, gcWithin, type RecordedBlock } from './recorded.ts';
import { hasLoader, mayHaveOtherLines, positionsByLoader } from './source-maps/loader-maps.ts';

export type BlockToExplain = Pick<Block, 'samples' | 'start' | 'end' | 'lackedCpu'>;
/** Given the samples as they are in the source. */
export type Explained = (code: SampledCode, samples: readonly WeightedSample[]) => void;
/** Calls `done` once, at once or later. Never throws. */
export type Explain = (block: BlockToExplain, done: Explained) => void;

interface Options {
  readonly originOf: OriginOf;
  readonly origin: OriginOptions;
  /** The option `inApp` is a function. */
  readonly asksOrigins: boolean;
  readonly cwd: string;
  readonly hasMaps: boolean;
  readonly isRecorded: boolean;
  /** False if a block gets no name, since that would take too much. */
  mayName(): boolean;
  /** Runs what the name of a block takes. */
  asNaming<T>(work: () => T): T;
  /** Start and end of each garbage collection between two times; undefined if not known. */
  collections(from: number, until: number): RecordedBlock['collections'];
  /** Calls `turn` soon, once, outside user code. */
  schedule(turn: () => void): void;
  /** Runs what may take long, on the main thread. */
  asOwnWork(work: () => void): void;
}

const DEFAULT_TIMES = {
  /** A block waits at most this long for the thread: a large map takes seconds without a CPU. */
  maxWaitMillis: 10_000,
  /** A thread that was not asked for this long ends. */
  idleMillis: 30_000,
};

/** A thread that hangs, as its disk may, is asked no more. */
const MAX_UNANSWERED = 100;
/** Files that have ended a thread: more of them, and no thread is started. */
const MAX_UNSAFE = 100;

/** It waits in steps: this work is no block. */
const WAIT_STEP_MILLIS = 5;

const CANNOT_DESCRIBE = 'cannot describe the code of a block';

interface Waiting {
  readonly block: BlockToExplain;
  readonly recorder: BlockRecorder;
  readonly done: Explained;
  timer: NodeJS.Timeout | undefined;
}

export class Explainer {
  readonly #waiting = new Map<number, Waiting>();
  /** Those that wait no longer, too: their files are unsafe if the thread ends. */
  readonly #unanswered = new Map<number, readonly string[]>();
  readonly #unsafe = new Set<string>();
  readonly #slices: Slices;
  readonly #guard: Guard;
  readonly #times: typeof DEFAULT_TIMES;
  /** How long the thread had run at its latest answer; that of the latest thread. */
  ranMillis = 0;
  #thread: ExplainThread | undefined;
  #nextId = 0;
  #mayAsk = true;
  #whenSettled: (() => void)[] = [];

  constructor(
    private readonly options: Options,
    private readonly log: Pick<OnceLogger, 'log'>,
    times: Partial<typeof DEFAULT_TIMES> = {},
  ) {
    this.#guard = new Guard(log);
    this.#slices = new Slices((turn) => options.schedule(turn), this.#guard);
    this.#times = { ...DEFAULT_TIMES, ...times };
  }

  /** Calls `done` exactly once, later. */
  readonly explain: Explain = (block, done) => {
    const id = this.#nextId++;
    const collections = this.options.collections(block.start, block.end);
    const recorder = new BlockRecorder(block, collections);
    this.#waiting.set(id, { block, recorder, done, timer: undefined });
    const { asNaming } = this.options;
    const isNamed = this.options.mayName();
    const step = () =>
      isNamed ? asNaming(() => recorder.step() && this.#ask(id)) : this.#finish(id, unnamed(block));
    this.#slices.add(() => this.#guard.run(CANNOT_DESCRIBE, step) ?? this.#explainHere(id));
  };

  get isWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** Resolves when no block waits any more, after some `maxWaitMillis` at most. */
  settled(): Promise<void> {
    if (!this.isWaiting) return Promise.resolve();
    return new Promise((resolve) => this.#whenSettled.push(resolve));
  }

  /** Explains all blocks now. Blocks for at most `waitMillis` if answers are under way. */
  settle(waitMillis = 0): void {
    const { asOwnWork } = this.options;
    asOwnWork(() => this.#slices.finish());
    const end = now() + waitMillis;
    do
      asOwnWork(() => {
        const millis = Math.min(WAIT_STEP_MILLIS, end - now());
        this.#guarded(() => this.#thread?.receive(millis));
        this.#slices.finish();
      });
    while (this.isWaiting && this.#unanswered.size > 0 && now() < end);
    asOwnWork(() => {
      for (const id of this.#waiting.keys()) this.#explainHere(id);
      this.#slices.finish();
    });
  }

  /** Explains what waits, and ends the thread. */
  stop(): void {
    this.settle();
    this.#thread?.terminate();
    this.#thread = undefined;
    this.#unanswered.clear();
  }

  #ask(id: number): true {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return true;
    const { recorded } = waiting.recorder;
    const isAsked = recorded.frames.length > 0 && inRootContext(() => this.#send(id, recorded));
    if (!isAsked) return this.#explainHere(id);
    clearTimeout(waiting.timer);
    const onTimeout = () => {
      // After a block, timers come before messages.
      this.#thread?.receive();
      this.#slices.add(() => this.#explainHere(id));
    };
    waiting.timer = inRootContext(() =>
      setTimeout(() => this.#guarded(onTimeout), this.#times.maxWaitMillis).unref(),
    );
    return true;
  }

  #send(id: number, block: RecordedBlock): boolean {
    if (!this.#mayAsk || this.#unanswered.size >= MAX_UNANSWERED) return false;
    this.#thread ??= this.#startThread();
    if (this.#thread === undefined) return false;
    const unsafe = [...this.#unsafe];
    this.#thread.send({ type: 'block', id, block, hasLoader: hasLoader(), unsafe });
    this.#unanswered.set(
      id,
      block.frames.flatMap(({ file }) => file ?? []),
    );
    return true;
  }

  #startThread(): ExplainThread | undefined {
    const { origin, asksOrigins, cwd, hasMaps, isRecorded } = this.options;
    const data = {
      idleMillis: this.#times.idleMillis,
      mayRead: permission()?.has('fs.read') !== false,
      origin,
      asksOrigins,
      cwd,
      hasMaps,
      isRecorded,
    };
    if (hasMaps && !data.mayRead)
      this.log.log(
        'warn',
        'sourceMaps is off: the permission model does not allow to read all files',
      );
    try {
      const thread: ExplainThread = new ExplainThread(
        data,
        (reply) => this.#guarded(() => this.#take(reply)),
        (error) => this.#guarded(() => this.#onEnd(thread, error)),
      );
      return thread;
    } catch (error) {
      this.#mayAsk = false;
      // No watchdog thread either, which is warned of.
      this.log.log('info', `blocks are named without their files: ${(error as Error).message}`);
      return undefined;
    }
  }

  #take(reply: Reply): void {
    if (reply.type !== 'explanation') {
      // A loader is the application's: its files are read in no span.
      this.#slices.add(() => {
        const answer =
          reply.type === 'loader'
            ? withoutTracing(() => positionsByLoader(reply.of))
            : reply.of.map(this.options.originOf);
        this.#thread?.send({ type: 'answer', id: reply.id, answer });
        return true;
      });
      return;
    }
    const { id, explanation, problems } = reply;
    this.#unanswered.delete(id);
    this.ranMillis = reply.ranMillis;
    for (const [path, reason] of problems)
      this.log.log('info', 'a source map cannot be used', path, reason);
    this.#slices.add(() => this.#finish(id, explanation));
  }

  #onEnd(thread: ExplainThread, error: unknown): void {
    if (thread !== this.#thread) return;
    thread.receive();
    this.#thread = undefined;
    if (error !== undefined) this.log.log('warn', 'the thread that explains failed', error);
    const unanswered = [...this.#unanswered];
    this.#unanswered.clear();
    for (const [id, files] of unanswered) {
      // Whatever ended the thread would do so again.
      if (error !== undefined) for (const file of files) this.#unsafe.add(file);
      this.#slices.add(() => (error === undefined ? this.#ask(id) : this.#explainHere(id)));
    }
    if (this.#unsafe.size > MAX_UNSAFE) this.#mayAsk = false;
  }

  /** Without the thread: as far as it is known without files. */
  #explainHere(id: number): true {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return true;
    const { block, recorder } = waiting;
    const { samples, start, end, lackedCpu: lackedCpuMillis } = block;
    const { cwd, originOf, asNaming } = this.options;
    const options = { cwd, originOf, gcWithin: gcWithin(recorder.collections), lackedCpuMillis };
    const code = this.#guard.run(CANNOT_DESCRIBE, () =>
      asNaming(() => describeCode(samples, start, end, options)),
    );
    return this.#finish(
      id,
      code === undefined ? unnamed(block) : { code: withoutUnknownLine(code), inSource: [] },
    );
  }

  #finish(id: number, { code, inSource, packages = [] }: Explanation): true {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return true;
    this.#waiting.delete(id);
    clearTimeout(waiting.timer);
    // Before anything else: V8 may end a report half-way.
    if (!this.isWaiting) this.#slices.add(() => this.#settled());
    learnPackages(packages);
    const { block, recorder, done } = waiting;
    const moved = new Map(inSource.map(([i, frame]) => [recorder.frames[i]?.text, frame]));
    this.#guard.run('cannot report a block', () =>
      done(
        code,
        moved.size === 0
          ? block.samples
          : block.samples.map((sample) => ({
              ...sample,
              frames: sample.frames.map((frame) => moved.get(frame.text) ?? frame),
            })),
      ),
    );
    return true;
  }

  #settled(): true {
    if (!this.isWaiting) for (const resolve of this.#whenSettled.splice(0)) resolve();
    return true;
  }

  /** For what Node.js calls: a throw would reach the host. */
  #guarded(action: () => void): void {
    this.#guard.run('internal error in the explanation of blocks', action);
  }
}

const unnamed = ({ samples }: BlockToExplain): Explanation => ({
  code: { samples: samples.length },
  inSource: [],
});

/** A compiler may have made it of other lines. */
function withoutUnknownLine(sampled: SampledCode): SampledCode {
  const { code } = sampled;
  if (code?.file === undefined || !mayHaveOtherLines(code.file)) return sampled;
  const { functionName, file, stackTrace, requires } = code;
  const loaded = requires === undefined ? {} : { requires };
  return { ...sampled, code: { functionName, file, stackTrace, ...loaded } };
}

const permission = () => (process as { permission?: { has(scope: string): boolean } }).permission;
