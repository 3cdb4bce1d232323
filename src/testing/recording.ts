/**
 * Records the blocks of the event loop while a function runs. Needs no SDK, and does not change one
 * that is there.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createNoopMeter, ProxyTracerProvider } from '@opentelemetry/api';
import type { Block } from '../block.ts';
import { BLOCK_CHANNEL, forRecording } from '../core.ts';
import type { BlockMessage } from '../report/block-channel.ts';
import { REQUEST_CHANNEL, type RequestMessage } from '../report/request-channel.ts';
import { blockJson } from '../summary/json.ts';
import { clearInterval, setImmediate, setInterval } from '../support/time.ts';
import type { EventLoopBlock } from '../types.ts';
import { EventLoopBlockedError } from './event-loop-blocked-error.ts';
import { isIgnored } from './ignore.ts';
import { checkOptions, type ExpectNoBlocksOptions, type RecordingOptions } from './options.ts';
import { Starvation } from './starvation.ts';

/**
 * The watchdog's thread does not keep a process alive, and a test runner may have nothing else that
 * does.
 */
const KEEP_ALIVE_MILLIS = 3_600_000;

let recording = false;

/**
 * Runs `run`, waits for what it returns, and returns the blocks of the event loop that happened
 * meanwhile, in order, each with its blocking function and line. Everything that ran on this thread
 * counts, not only what `run` has called.
 *
 * ```ts
 * const blocks = await recordBlocks(() => renderReport(rows), { thresholdMillis: 20 });
 * ```
 *
 * `JSON.stringify` turns each block into the object that `console: 'json'` prints, as the package's
 * `console.schema.json` describes it.
 *
 * In a worker thread (`pool: 'threads'` of vitest, for one) blocks have their function and line,
 * too.
 * @throws what `run` throws; Error if another recording is under way: there is one event loop;
 *   TypeError or RangeError if an option is wrong
 */
export async function recordBlocks(
  run: () => unknown,
  options: RecordingOptions = {},
): Promise<EventLoopBlock[]> {
  checkOptions('recordBlocks', options, ['thresholdMillis']);
  return (await record(run, options)).blocks;
}

/**
 * Runs `run`, waits for what it returns and gives that back, unless the event loop was blocked
 * meanwhile for `thresholdMillis` or longer, by code that `expectBlock` of the instrumentation did
 * not run. Blocks of what `ignore` names are let pass.
 *
 * ```ts
 * test('a large report leaves the event loop alone', async () => {
 *   await expectNoBlocks(() => renderReport(rows), { thresholdMillis: 50 });
 * });
 * ```
 * @throws EventLoopBlockedError that says how long, by which function, in which file and line; and
 *   as {@link recordBlocks}
 */
export async function expectNoBlocks<Result>(
  run: () => Result,
  options: ExpectNoBlocksOptions = {},
): Promise<Awaited<Result>> {
  // Made here: an error that is made after an `await` has no frame of the test.
  const callSite = new Error('called here');
  Error.captureStackTrace(callSite, expectNoBlocks);
  checkOptions('expectNoBlocks', options, ['thresholdMillis', 'ignore']);
  const { blocks, result, thresholdMillis, judgedMillis } = await record(run, options);
  const { ignore = [] } = options;
  const unwanted = blocks.filter((block) => block.expected !== true && !isIgnored(block, ignore));
  if (unwanted.length > 0)
    throw new EventLoopBlockedError(unwanted, thresholdMillis, callSite, judgedMillis);
  return result;
}

async function record<Result>(run: () => Result, { thresholdMillis = 100 }: RecordingOptions) {
  if (recording) {
    throw new Error(
      'another recording of blocks is under way: ' +
        'the event loop is one, run such tests one after another',
    );
  }
  const instrumentation = forRecording({
    thresholdMillis,
    asyncHooks: 'auto',
    captureStack: true,
    console: false,
    unfinishedAfterMillis: 0,
    blockEvents: 'off',
  });
  // Blocks of a test are no telemetry of the application's.
  instrumentation.setTracerProvider(new ProxyTracerProvider());
  instrumentation.setMeterProvider({ getMeter: () => createNoopMeter() });
  const heard: (EventLoopBlock & Pick<Block, 'runDelayMillis'>)[] = [];
  const hear = (message: unknown) => heard.push((message as BlockMessage).block);
  const stalls = new StallsByBlock();
  const starvation = new Starvation(thresholdMillis);
  const keepAlive = setInterval(() => {}, KEEP_ALIVE_MILLIS);
  recording = true;
  try {
    instrumentation.enable();
    await instrumentation.ready();
    // Earlier blocks do not count.
    await instrumentation.forceFlush();
    subscribe(BLOCK_CHANNEL, hear);
    subscribe(REQUEST_CHANNEL, stalls.add);
    starvation.start();
    const result = await inCallbackOfItsOwn(run);
    await instrumentation.forceFlush();
    starvation.stop();
    const judged = new Map<EventLoopBlock, number>();
    for (const { runDelayMillis, ...block } of heard) {
      const millis = starvation.lengthOf(block, runDelayMillis);
      if (millis >= thresholdMillis)
        judged.set(serializable({ ...block, ...stalls.of(block) }), millis);
    }
    const judgedMillis = (block: EventLoopBlock) => judged.get(block) ?? block.durationMillis;
    return { blocks: [...judged.keys()], result, thresholdMillis, judgedMillis };
  } finally {
    starvation.stop();
    unsubscribe(BLOCK_CHANNEL, hear);
    unsubscribe(REQUEST_CHANNEL, stalls.add);
    instrumentation.disable();
    clearInterval(keepAlive);
    recording = false;
  }
}

/** The requests that ended in a recording, by the blocks that they waited for. */
class StallsByBlock {
  #requests = 0;
  /** By the start of the block. */
  readonly #stalls = new Map<number, { stalledRequests: number; stalledMillis: number }>();

  readonly add = (message: unknown): void => {
    this.#requests++;
    for (const { block, millis } of (message as RequestMessage).waits) {
      const { startTimeMillis = Number.NaN } = block;
      const { stalledRequests, stalledMillis } = this.#stalls.get(startTimeMillis) ?? NO_STALLS;
      this.#stalls.set(startTimeMillis, {
        stalledRequests: stalledRequests + 1,
        stalledMillis: stalledMillis + millis,
      });
    }
  };

  /** Nothing if no request has ended: then nothing measures how long they were stalled. */
  of({
    startTimeMillis,
  }: EventLoopBlock): Pick<EventLoopBlock, 'stalledMillis' | 'stalledRequests'> {
    return this.#requests === 0 ? {} : (this.#stalls.get(startTimeMillis) ?? NO_STALLS);
  }
}

const NO_STALLS = { stalledRequests: 0, stalledMillis: 0 };

/** Assertions that compare blocks do not see the method. */
function serializable(block: EventLoopBlock): EventLoopBlock {
  return Object.defineProperty({ ...block }, 'toJSON', { value: () => blockJson(block) });
}

/** The synchronous part of `run` is a callback then, not a part of a chain of promises. */
function inCallbackOfItsOwn<Result>(run: () => Result): Promise<Awaited<Result>> {
  return new Promise((resolve, reject) => {
    setImmediate(() => {
      try {
        Promise.resolve(run()).then(resolve, reject);
      } catch (error) {
        reject(error);
      }
    });
  });
}
