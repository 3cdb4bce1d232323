/**
 * Records the blocks of the event loop while a function runs. Needs no SDK, and does not change one
 * that is there.
 */
import { createNoopMeter, ProxyTracerProvider } from '@opentelemetry/api';
import { activeSession } from '../../active-instance.ts';
import type { BlockMessage, RequestMessage } from '../../channels.ts';
import { BLOCK_CHANNEL, forRecording, REQUEST_CHANNEL } from '../../core.ts';
import { follow } from '../../outputs/output.ts';
import { blockJson } from '../../outputs/summary/json.ts';
import { clearInterval, now, setImmediate, setInterval } from '../../support/time.ts';
import type { EventLoopBlock } from '../../types.ts';
import { EventLoopBlockedError } from './event-loop-blocked-error.ts';
import { isIgnored } from './ignore.ts';
import { checkOptions, type ExpectNoBlocksOptions, type RecordingOptions } from './options.ts';
import { Starvation } from './starvation.ts';
import { Turn } from './turn.ts';

/**
 * Between two looks at whether the test runner is about to give up. The timer also keeps the
 * process alive until the code begins, and after it: the watchdog's thread does not, and a test
 * runner may have nothing else that does.
 */
const LOOK_MILLIS = 100;
/** Jest and vitest give up on a test after 5 s, and do not say what blocked. */
const MAX_BLOCKED_RUN_MILLIS = 4000;

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
 * It does not wait for the end of code that has blocked and goes on after 4 s: a test runner would
 * give up on the test, and say nothing of the block.
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
  const { ignore = [] } = options;
  const isUnwanted = (block: EventLoopBlock) =>
    block.expected !== true && !isIgnored(block, ignore);
  const { blocks, result, thresholdMillis, judgedMillis } = await record(run, options, isUnwanted);
  const unwanted = blocks.filter(isUnwanted);
  if (unwanted.length > 0)
    throw new EventLoopBlockedError(unwanted, thresholdMillis, callSite, judgedMillis);
  return result as Awaited<Result>;
}

/** @param endsRun true for a block after which the recording need not wait for a result */
async function record<Result>(
  run: () => Result,
  { thresholdMillis = 100 }: RecordingOptions,
  endsRun: (block: EventLoopBlock) => boolean = () => false,
) {
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
  const turn = new Turn();
  const heard: BlockMessage[] = [];
  const stops: (() => void)[] = [];
  const stalls = new StallsByBlock();
  const starvation = new Starvation(thresholdMillis);
  const judge = () => {
    const judged = new Map<EventLoopBlock, number>();
    for (const { block, runDelayMillis } of heard) {
      const millis = starvation.lengthOf(block, runDelayMillis);
      if (millis >= thresholdMillis)
        judged.set(serializable({ ...block, ...stalls.of(block) }), millis);
    }
    return judged;
  };

  let beganAt = Number.NaN;
  let lookedAt = now();
  // Due before the timer of the test runner: after a block it runs first.
  const look = setInterval(() => {
    const at = now();
    const isLate = at - lookedAt >= 2 * LOOK_MILLIS;
    lookedAt = at;
    if (isLate && turn.hasBegun) {
      // What has just blocked is reported after the timers otherwise.
      activeSession()?.settle();
      starvation.turn();
      if (turn.hasRun) turn.end();
    }
    const runsLong = at - beganAt >= MAX_BLOCKED_RUN_MILLIS;
    if (runsLong && [...judge().keys()].some(endsRun)) turn.end();
  }, LOOK_MILLIS);

  let code: Promise<unknown> | undefined;
  let result: Awaited<Result> | undefined;
  try {
    await turn.take();
    instrumentation.enable();
    await instrumentation.ready();
    // Earlier blocks do not count.
    await instrumentation.forceFlush();
    stops.push(
      follow<BlockMessage>(BLOCK_CHANNEL, (message) => heard.push(message)),
      follow<RequestMessage>(REQUEST_CHANNEL, (message) => stalls.add(message)),
    );
    starvation.start();
    turn.hasBegun = true;
    beganAt = now();
    look.unref();
    code = inCallbackOfItsOwn(run).then((returned) => {
      turn.hasRun = true;
      look.ref();
      result = returned;
    });
    await Promise.race([code.then(() => instrumentation.forceFlush()), turn.ended]);
    starvation.stop();
    const judged = judge();
    const judgedMillis = (block: EventLoopBlock) => judged.get(block) ?? block.durationMillis;
    return { blocks: [...judged.keys()], result, thresholdMillis, judgedMillis };
  } finally {
    starvation.stop();
    for (const stop of stops) stop();
    instrumentation.disable();
    clearInterval(look);
    turn.leave(code);
  }
}

/** The requests that ended in a recording, by the blocks that they waited for. */
class StallsByBlock {
  #requests = 0;
  /** By the start of the block. */
  readonly #stalls = new Map<number, { stalledRequests: number; stalledMillis: number }>();

  add(message: RequestMessage): void {
    this.#requests++;
    for (const { block, millis } of message.waits()) {
      const { startTimeMillis = Number.NaN } = block;
      const { stalledRequests, stalledMillis } = this.#stalls.get(startTimeMillis) ?? NO_STALLS;
      this.#stalls.set(startTimeMillis, {
        stalledRequests: stalledRequests + 1,
        stalledMillis: stalledMillis + millis,
      });
    }
  }

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
