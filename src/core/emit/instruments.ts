/** The metric instruments. */
import {
  type Attributes,
  type Context,
  type Meter,
  ROOT_CONTEXT,
  ValueType,
} from '@opentelemetry/api';
import type { FunctionWait } from '../../channels.ts';
import { isNamedByRoute, type Operation } from '../../otel/operation.ts';
import * as semconv from '../../semconv.ts';
import type { EventLoopBlock, SuspensionReason } from '../../types.ts';
import { beginOf, type KeyedPlace, keyOf } from '../explain/name/key.ts';

// Boundaries in seconds. They are always given, since the SDK's default ones are for milliseconds.
// Lag is near zero in a healthy process, and health checks give up after some seconds.
// `prometheus/rules.yaml` alerts on 0.2.
const LAG_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 2.5, 5, 10, 30];
// A block is at least the threshold long, which may be as little as 1 ms.
const BLOCK_BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 0.75, 1, 2.5, 5, 10, 30, 60,
];

// Most requests are not stalled; a stall is about as long as a block.
const STALL_BUCKETS = [0, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

// From 20 ms on; a period of a CPU quota is 100 ms by default.
const SUSPENSION_BUCKETS = [0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

const NO_ATTRIBUTES: Attributes = {};

export type OwnThread = 'main' | 'watchdog';
/** What the package leaves out where its budget gets short. */
export type OwnStep = 'sample' | 'name';

/** Every function name is a time series of its own: past this many, all others are one. */
const MAX_FUNCTION_NAMES = 100;
const OTHERS = '_other';
/** The same for routes and operations; and for functions of one operation, taken together. */
const MAX_OPERATIONS = 100;
const MAX_SERIES = 1000;

export type Instruments = ReturnType<typeof createInstruments>;

export function createInstruments(meter: Meter) {
  const lag = meter.createHistogram(semconv.METRIC_EVENT_LOOP_LAG, {
    unit: 's',
    description: 'How long an event arriving at a random moment waits for the event loop.',
    advice: { explicitBucketBoundaries: LAG_BUCKETS },
  });
  const blockDuration = meter.createHistogram(semconv.METRIC_EVENT_LOOP_BLOCK_DURATION, {
    unit: 's',
    description: 'Length of the blocks of the event loop that reached the threshold.',
    advice: { explicitBucketBoundaries: BLOCK_BUCKETS },
  });
  const blockSuppressed = meter.createCounter(semconv.METRIC_EVENT_LOOP_BLOCK_SUPPRESSED, {
    unit: '{block}',
    description: 'Blocks of the event loop without a span, because of the rate limit.',
    valueType: ValueType.INT,
  });
  const stallDuration = meter.createHistogram(semconv.METRIC_EVENT_LOOP_STALL_DURATION, {
    unit: 's',
    description:
      'How long each entry span (SERVER, CONSUMER) was stalled by blocks of the event loop ' +
      'that it did not cause.',
    advice: { explicitBucketBoundaries: STALL_BUCKETS },
  });
  const stallCaused = meter.createCounter(semconv.METRIC_EVENT_LOOP_STALL_CAUSED, {
    unit: 's',
    description:
      'How long entry spans (SERVER, CONSUMER) were stalled by the blocks of a function.',
  });
  const suspensionDuration = meter.createHistogram(semconv.METRIC_EVENT_LOOP_SUSPENSION_DURATION, {
    unit: 's',
    description:
      'For how long the thread of the event loop was not given a CPU, at least 20 ms at a time.',
    advice: { explicitBucketBoundaries: SUSPENSION_BUCKETS },
  });
  const ownDuration = meter.createCounter(semconv.METRIC_EVENT_LOOP_OWN_DURATION, {
    unit: 's',
    description: 'CPU time that this package itself has used.',
  });
  const ownSkipped = meter.createCounter(semconv.METRIC_EVENT_LOOP_OWN_SKIPPED, {
    unit: '{step}',
    description:
      'Stack samples, and names of blocks, that were left out to stay within the budget.',
    valueType: ValueType.INT,
  });
  const blockingFunction = boundedBy(MAX_FUNCTION_NAMES);
  const stalledOperation = boundedBy(MAX_OPERATIONS);
  const stallSeries = boundedBy(MAX_SERIES);
  return {
    lag: (millis: number) => lag.record(millis / 1000, NO_ATTRIBUTES, ROOT_CONTEXT),
    block: ({ durationMillis, kind, code, expected }: EventLoopBlock, context: Context) =>
      blockDuration.record(
        durationMillis / 1000,
        {
          ...(kind !== undefined && { [semconv.ATTR_EVENT_LOOP_BLOCK_KIND]: kind }),
          ...(expected === true && { [semconv.ATTR_EVENT_LOOP_BLOCK_EXPECTED]: true }),
          ...functionOf(code, blockingFunction),
        },
        context,
      ),
    suppressed: ({ code }: EventLoopBlock, context: Context) =>
      blockSuppressed.add(1, functionOf(code, blockingFunction), context),
    stall: (millis: number) => stallDuration.record(millis / 1000, NO_ATTRIBUTES, ROOT_CONTEXT),
    /** What an entry span of `operation` was stalled, by function. */
    stallCaused: (waits: readonly FunctionWait[], operation: Operation) => {
      const who = operationName(operation, stalledOperation);
      for (const { code, stalledMillis, queuedMillis } of waits) {
        const by = functionOf(code, blockingFunction);
        const isKnown = stallSeries(JSON.stringify([by, who])) !== OTHERS;
        // The sum of each function stays exact.
        const counted = isKnown ? { ...by, ...who } : { ...by, [semconv.ATTR_HTTP_ROUTE]: OTHERS };
        stallCaused.add((stalledMillis + queuedMillis) / 1000, counted, ROOT_CONTEXT);
      }
    },
    own: (millis: number, thread: OwnThread) =>
      ownDuration.add(
        millis / 1000,
        { [semconv.ATTR_EVENT_LOOP_OWN_THREAD]: thread },
        ROOT_CONTEXT,
      ),
    skipped: (count: number, step: OwnStep) =>
      ownSkipped.add(count, { [semconv.ATTR_EVENT_LOOP_OWN_STEP]: step }, ROOT_CONTEXT),
    suspension: (millis: number, reason: SuspensionReason) =>
      suspensionDuration.record(
        millis / 1000,
        { [semconv.ATTR_EVENT_LOOP_SUSPENSION_REASON]: reason },
        ROOT_CONTEXT,
      ),
  };
}

type Bounded = (name: string) => string;

/** The name is that of the block's span; one that says nothing has file and line beside it. */
function functionOf(code: KeyedPlace | undefined, bounded: Bounded): Attributes {
  if (code === undefined) return NO_ATTRIBUTES;
  if (bounded(keyOf(code)) === OTHERS) return { [semconv.ATTR_CODE_FUNCTION_NAME]: OTHERS };
  const { file, line } = beginOf(code);
  return {
    [semconv.ATTR_CODE_FUNCTION_NAME]: code.functionName,
    ...(file !== undefined && { [semconv.ATTR_CODE_FILE_PATH]: file }),
    ...(line !== undefined && { [semconv.ATTR_CODE_LINE_NUMBER]: line }),
  };
}

/** The route, or what the entry span is named if that says more. */
function operationName(operation: Operation, bounded: Bounded): Attributes {
  const { httpRoute, name } = operation;
  return {
    ...(httpRoute !== undefined && { [semconv.ATTR_HTTP_ROUTE]: bounded(httpRoute) }),
    ...(name !== undefined &&
      !isNamedByRoute(operation) && {
        [semconv.ATTR_EVENT_LOOP_STALL_OPERATION]: bounded(name),
      }),
  };
}

function boundedBy(max: number): Bounded {
  const names = new Set<string>();
  return (name) => {
    if (names.size < max) names.add(name);
    return names.has(name) ? name : OTHERS;
  };
}
