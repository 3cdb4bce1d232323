/**
 * What the report page embeds, as JSON: `console.schema.json` describes it. Times are in
 * milliseconds, Unix times if a name ends with `TimeMillis`. What is not known is absent.
 */
import type { EventLoopBlock } from '../../types.ts';
import type { ReportRecorder } from './recorder.ts';

/** A block as the console prints it; places and stacks are numbers of what stands beside it. */
export interface ReportBlock
  extends Omit<EventLoopBlock, 'code' | 'leaf' | 'topFunctions' | 'expected' | 'stalledSpans'> {
  readonly stalledSpans?: number;
  /** Of `codes`. */
  readonly code?: number;
  /** Of `codes`. */
  readonly leaf?: number;
  /** File of the module that was being loaded. */
  readonly requires?: string;
  readonly calledBy?: string;
  readonly operation?: string | undefined;
  readonly traceId?: string | undefined;
  /** How many requests waited for it, also those that are left out; absent if none did. */
  waitedRequests?: number;
  /** Node of the stack tree, milliseconds, and so on in turn. */
  stacks: readonly number[];
}

/** An entry span, of kind SERVER or CONSUMER, whose request waited before or during it. */
export interface ReportRequest {
  readonly startTimeMillis: number;
  readonly durationMillis: number;
  /** `GET /report`, else the span's name. */
  readonly route: string;
  readonly traceId?: string;
  readonly stalledMillis: number;
  /** Before the span began. */
  readonly queuedMillis: number;
  /** Of the blocks that it waited longest for: start, milliseconds, and so on in turn. */
  readonly waits: readonly number[];
}

/** Name, number of its file or -1, line, line at which the function begins; 0 for none. */
export type ReportFrame = readonly [string, number, number, number];

export type ReportDocument = ReturnType<ReportRecorder['read']>;
