/**
 * What the report page shows of this thread, kept while the process runs.
 *
 * Guarantees: bounded memory. At most 10 000 blocks, 2000 requests with 20 waits each, 20 000
 * nodes of stacks and 2048 slots of the timeline; if there is more, the shortest blocks and waits,
 * the requests that waited least and the inner frames of new stacks are left out, and the timeline
 * gets longer slots. The summary counts every block.
 */

import type { RequestMessage, RequestWait } from '../../channels.ts';
import { keyOf } from '../../core/explain/name/key.ts';
import { copies } from '../../support/copies.ts';
import { attempt } from '../../support/guard.ts';
import { THIS_THREAD } from '../../support/this-thread.ts';
import type {
  AttributedRequest,
  BlockingCode,
  CodePlace,
  EventLoopBlock,
  SampledStack,
} from '../../types.ts';
import { PACKAGE_VERSION } from '../../version.ts';
import { summaryJson } from '../summary/json.ts';
import { RunTimes } from '../summary/run-times.ts';
import { Summary } from '../summary/summary.ts';
import type { ReportBlock, ReportRequest } from './document.ts';
import { LagTimeline } from './lag-timeline.ts';
import { Longest } from './longest.ts';
import type { SourceLines } from './source-lines.ts';
import { StackTree } from './stack-tree.ts';

const MAX_BLOCKS = 10_000;
const MAX_REQUESTS = 2000;
/** Blocks that a request waited for: of the others it is known how long it waited for all. */
const MAX_WAITS = 20;
/** Places of blocks, with their lines. */
const MAX_CODES = 5000;

export class ReportRecorder {
  readonly #summary = new Summary();
  readonly #codes: CodePlace[] = [];
  readonly #codeIds = new Map<string, number>();
  readonly #functions: number[] = [];
  readonly #functionIds = new Map<string, number>();
  #stacks = new StackTree();
  readonly #blocks = new Longest<ReportBlock>(({ durationMillis }) => durationMillis, MAX_BLOCKS);
  /** Those that are kept. */
  #byStart = new Map<number, ReportBlock>();
  readonly #requests = new Longest<ReportRequest>(
    ({ stalledMillis, queuedMillis }) => stalledMillis + queuedMillis,
    MAX_REQUESTS,
  );
  readonly times = new RunTimes();
  readonly #timeline = new LagTimeline(this.times.now);
  thresholdMillis = 0;
  /** Undefined if the page shows no source. */
  sourceLines: SourceLines | undefined;

  block(
    told: EventLoopBlock,
    { operation, traceId }: AttributedRequest,
    stacks: readonly SampledStack[],
  ): void {
    const block = this.times.of(told);
    this.#summary.add(block, this.times.listeningSince, operation);
    const { code, leaf, topFunctions: _, expected, asyncResourceType, ...facts } = block;
    const codeId = code && this.#codeId(code);
    const leafId = leaf && this.#codeId(leaf);
    const kept: ReportBlock = {
      ...facts,
      ...rounded(facts),
      ...(codeId !== undefined && { code: codeId }),
      ...(leafId !== undefined && { leaf: leafId }),
      ...(code?.requires !== undefined && { requires: code.requires }),
      ...(code?.calledBy !== undefined && { calledBy: code.calledBy }),
      // What is known of a block without code.
      ...(code === undefined && asyncResourceType !== undefined && { asyncResourceType }),
      ...(operation !== undefined && { operation }),
      ...(traceId !== undefined && { traceId }),
      stacks: this.#stacksOf(stacks),
    };
    this.#byStart.set(kept.startTimeMillis, kept);
    if (this.#blocks.add(kept)) this.#forgetUnused();
  }

  /** Hot: 50 times a second. See {@link LagTimeline.add}. */
  lag(now: number, busy: number, lagMillis: number): void {
    this.#timeline.add(now, busy, lagMillis);
  }

  /** A request has ended, stalled or not. */
  request(told: RequestMessage): void {
    const request = this.times.of(told);
    this.#summary.addRequest(request, this.times.listeningSince);
    const { startTimeMillis, durationMillis, route, traceId } = request;
    if (request.stalledMillis + request.queuedMillis === 0) return;
    // By how much the wall clock has been stepped.
    const step = told.startTimeMillis - startTimeMillis;
    this.#requests.add({
      startTimeMillis: round(startTimeMillis),
      durationMillis: round(durationMillis),
      route,
      ...(traceId !== undefined && { traceId }),
      stalledMillis: round(request.stalledMillis),
      queuedMillis: round(request.queuedMillis),
      waits: this.#countWaits(request.waits(), step),
    });
  }

  /**
   * Every request counts for all of its blocks, also if it is left out.
   * @returns the longest waits
   */
  #countWaits(waits: readonly RequestWait[], step: number): number[] {
    const millisOf = new Map<number, number>();
    for (const { block, millis } of waits) {
      if (block.startTimeMillis === undefined) continue;
      const start = round(block.startTimeMillis - step);
      millisOf.set(start, (millisOf.get(start) ?? 0) + millis);
    }
    for (const start of millisOf.keys()) {
      const block = this.#byStart.get(start);
      if (block !== undefined) block.waitedRequests = (block.waitedRequests ?? 0) + 1;
    }
    return [...millisOf]
      .sort(([, a], [, b]) => b - a)
      .slice(0, MAX_WAITS)
      .flatMap(([start, millis]) => [start, round(millis)]);
  }

  /**
   * What the page embeds: `console.schema.json` describes it.
   * @param workers ids of threads that have pages beside this one
   */
  read(workers: readonly number[] = []) {
    const times = this.times.read(this.thresholdMillis);
    const { dropped } = this.#blocks;
    const blocks = byStart(this.#blocks.read());
    if (this.#blocks.dropped > dropped) this.#forgetUnused();
    const stacks = this.#stacks.read();
    return {
      type: 'event-loop-report' as const,
      process: thisProcess(),
      ...(workers.length > 0 && { workers }),
      startTimeMillis: times.startedAt,
      endTimeMillis: times.now,
      thresholdMillis: this.thresholdMillis,
      summary: summaryJson(this.#summary.read(times)),
      /** The places of blocks, and for each of them the first that is of the same function. */
      codes: this.#codes as readonly CodePlace[],
      functions: this.#functions as readonly number[],
      blocks: blocks as readonly ReportBlock[],
      stacks,
      ...(this.sourceLines && {
        sources: this.sourceLines.read(this.#heaviestCodes(blocks), stacks),
      }),
      timeline: this.#timeline.read(times.now),
      ...(copies().areRequestsKnown && { requests: byStart(this.#requests.read()) }),
      /** What was left out, since there was too much of it. */
      dropped: {
        blocks: this.#blocks.dropped,
        requests: this.#requests.dropped,
        frames: this.#stacks.dropped,
      },
    };
  }

  #heaviestCodes(blocks: readonly ReportBlock[]): CodePlace[] {
    const millisOf = new Map<number, number>();
    for (const { code = -1, durationMillis } of blocks)
      millisOf.set(code, (millisOf.get(code) ?? 0) + durationMillis);
    return [...millisOf].sort(([, a], [, b]) => b - a).flatMap(([code]) => this.#codes[code] ?? []);
  }

  #codeId(code: CodePlace & Partial<BlockingCode>) {
    const { stackTrace: _, requires: __, calledBy: ___, ...place } = code;
    const key = Object.values(place).join('\n');
    let id = this.#codeIds.get(key);
    if (id === undefined && this.#codes.length < MAX_CODES) {
      id = this.#codes.push(place) - 1;
      this.#codeIds.set(key, id);
      const functionKey = keyOf(place);
      const first = this.#functionIds.get(functionKey) ?? id;
      this.#functionIds.set(functionKey, first);
      this.#functions.push(first);
    }
    return id;
  }

  #stacksOf(stacks: readonly SampledStack[]): number[] {
    const millisOf = new Map<number, number>();
    for (const stack of stacks) {
      const node = this.#stacks.add(stack);
      if (node !== undefined) millisOf.set(node, (millisOf.get(node) ?? 0) + stack.millis);
    }
    return [...millisOf].flatMap(([node, millis]) => [node, Math.round(10 * millis) / 10]);
  }

  /** What only blocks had that were left out. */
  #forgetUnused(): void {
    this.#byStart = new Map(this.#blocks.kept.map((block) => [block.startTimeMillis, block]));
    const all = this.#stacks;
    const used = new StackTree();
    const moved = new Map<number, number | undefined>();
    for (const block of this.#blocks.kept) {
      block.stacks = block.stacks.flatMap((value, i) => {
        if (i % 2 === 1) return [];
        const node = used.copy(value, all, moved);
        return node === undefined ? [] : [node, block.stacks[i + 1] as number];
      });
    }
    this.#stacks = used;
  }
}

/** That of this thread, whichever copy of the package asks. */
export function recorderOfThread(): ReportRecorder {
  const shared = copies() as { recorder: ReportRecorder | undefined };
  shared.recorder ??= new ReportRecorder();
  return shared.recorder;
}

function byStart<Item extends { startTimeMillis: number }>(items: readonly Item[]): Item[] {
  return [...items].sort((a, b) => a.startTimeMillis - b.startTimeMillis);
}

/** To a hundredth: a report has thousands of them. */
const round = (millis: number) => Math.round(100 * millis) / 100;

function rounded(facts: object): object {
  const numbers = Object.entries(facts).filter(([, value]) => typeof value === 'number');
  return Object.fromEntries(numbers.map(([name, value]) => [name, round(value)]));
}

function thisProcess() {
  const cwd = attempt(() => process.cwd());
  const script = process.argv[1];
  return {
    pid: process.pid,
    threadId: THIS_THREAD.id,
    ...(script !== undefined && { script }),
    ...(cwd !== undefined && { cwd }),
    platform: process.platform,
    nodeVersion: process.versions.node,
    packageVersion: PACKAGE_VERSION,
  };
}
