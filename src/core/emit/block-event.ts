/** One block as one log event. */
import {
  type Attributes,
  type AttributeValue,
  type Context,
  INVALID_SPAN_CONTEXT,
  type Span,
  trace,
} from '@opentelemetry/api';
import { toHrTime } from '../../otel/hr-time.ts';
import { type Logger, SEVERITY_WARN } from '../../otel/logger.ts';
import {
  ATTR_EVENT_LOOP_BLOCK_DURATION,
  EVENT_EVENT_LOOP_BLOCKED,
  SPAN_EVENT_LOOP_BLOCKED,
} from '../../semconv.ts';
import { workingFolder } from '../../support/files.ts';
import type { BlockEventsMode, EventLoopBlock } from '../../types.ts';
import { attributedRequest } from './attributed-request.ts';
import { blockLine, PLAIN } from './block-line.ts';
import { attributesOf } from './block-span.ts';
import type { BlockReport, Emitter } from './emitter.ts';
import type { UserHooks } from './user-hooks.ts';

const WHAT = { eventName: EVENT_EVENT_LOOP_BLOCKED, severityNumber: SEVERITY_WARN };

export class BlockEvents implements Emitter {
  readonly failure = 'cannot emit a block';

  /** @param logger undefined if there is no SDK for logs */
  constructor(
    private readonly mode: BlockEventsMode,
    private readonly logger: () => Logger | undefined,
    private readonly hooks: UserHooks,
  ) {}

  emit(report: BlockReport): void {
    if (!this.#isWanted(report)) return;
    const { block, context } = report;
    const logger = this.logger();
    // Do not make a record that the SDK would drop.
    if (logger === undefined || logger.enabled?.({ ...WHAT, context }) === false) return;
    const attributes: Attributes = {
      ...attributesOf(block),
      [ATTR_EVENT_LOOP_BLOCK_DURATION]: block.durationMillis / 1000,
    };
    const before = { ...attributes };
    // It can be used like the block's span: attributes that the hook sets are the record's.
    this.hooks.block(spanOf(context, attributes), block);
    // The body says again what the hook has replaced.
    const isChanged = Object.entries(before).some(([name, value]) => attributes[name] !== value);
    logger.emit({
      ...WHAT,
      severityText: 'WARN',
      timestamp: toHrTime(block.startTimeMillis),
      body: isChanged ? shortBody(block) : body(block, context),
      attributes,
      context,
    });
  }

  #isWanted({ span: { outcome } }: BlockReport): boolean {
    if (outcome === 'left out') return this.mode !== 'off';
    return outcome === 'sampled' && this.mode === 'all';
  }
}

const body = (block: EventLoopBlock, context: Context) =>
  blockLine(block, attributedRequest(context), workingFolder(), PLAIN);

function shortBody({ durationMillis, kind }: EventLoopBlock): string {
  const what = `${SPAN_EVENT_LOOP_BLOCKED} ${Math.round(durationMillis)} ms`;
  return kind === undefined ? what : `${what} ${kind}`;
}

/** It has the ids of the blocking span, as the record does; only its attributes are used. */
function spanOf(context: Context, attributes: Attributes): Span {
  const span = trace.wrapSpanContext(trace.getSpanContext(context) ?? INVALID_SPAN_CONTEXT);
  // The SDK's spans do the same: an attribute without a value is left out.
  const set = (name: string, value: AttributeValue | null | undefined) => {
    if (value !== undefined && value !== null) attributes[name] = value;
    return span;
  };
  return Object.assign(span, {
    isRecording: () => true,
    setAttribute: set,
    setAttributes(all: Attributes) {
      for (const [name, value] of Object.entries(all)) set(name, value);
      return span;
    },
  });
}
