/**
 * What the report page embeds, as JSON: `console.schema.json` describes it. Times are in
 * milliseconds, Unix times if a name ends with `TimeMillis`. What is not known is absent.
 */
import type { SummaryJson } from '../summary/json.ts';
import type { CodePlace, EventLoopBlock } from '../types.ts';

export const REPORT_TYPE = 'event-loop-report';

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
  readonly operation?: string | undefined;
  readonly traceId?: string | undefined;
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
  /** Start of a block that it waited for, milliseconds, and so on in turn. */
  readonly waits: readonly number[];
}

/** Name, number of its file or -1, line, line at which the function begins; 0 for none. */
export type ReportFrame = readonly [string, number, number, number];

/** Stacks share what they have in common, from the outermost frame on. */
export interface ReportStacks {
  readonly frames: readonly ReportFrame[];
  readonly files: readonly string[];
  /** Of each node the one around it, or -1, and its frame. */
  readonly nodes: readonly number[];
}

/** Of each file, by line number: lines around places of blocks, and those that were sampled. */
export type ReportSources = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Each slot has one value; null if nothing was measured. */
export interface ReportTimeline {
  readonly startTimeMillis: number;
  readonly slotMillis: number;
  /** How long an event waited that arrived in the slot, on average, and at most. */
  readonly lagMillis: readonly (number | null)[];
  readonly maxLagMillis: readonly (number | null)[];
  /** Share of the slot in which the event loop was busy, 0 to 1. */
  readonly utilization: readonly (number | null)[];
}

export interface ReportDocument {
  readonly type: typeof REPORT_TYPE;
  readonly process: {
    readonly pid: number;
    readonly threadId: number;
    readonly script?: string;
    readonly cwd?: string;
    readonly platform: string;
    readonly nodeVersion: string;
    readonly packageVersion: string;
  };
  readonly startTimeMillis: number;
  readonly endTimeMillis: number;
  readonly thresholdMillis: number;
  /** Whether all of it was kept, since `reportFile` is set. */
  readonly isRecorded: boolean;
  readonly summary: SummaryJson;
  /** The places of blocks. */
  readonly codes: readonly CodePlace[];
  /** For each of `codes` the first that is of the same function. */
  readonly functions: readonly number[];
  readonly blocks: readonly ReportBlock[];
  readonly stacks: ReportStacks;
  /** Absent with `reportSource: false`. */
  readonly sources?: ReportSources;
  readonly timeline?: ReportTimeline;
  /** Those that were stalled; absent without a span processor. */
  readonly requests?: readonly ReportRequest[];
  /** What was left out, since there was too much of it. */
  readonly dropped: { readonly blocks: number; readonly requests: number; readonly frames: number };
}
