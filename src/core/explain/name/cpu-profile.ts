/**
 * Stacks as a `.cpuprofile`, the JSON of V8's own profiler (`Profiler.Profile` of the inspector),
 * which Chrome DevTools, VS Code and speedscope open. Also runs in a browser, for the report page.
 */
import type { SampledFrame, SampledStack } from '../../../types.ts';

interface Node {
  readonly id: number;
  readonly callFrame: {
    readonly functionName: string;
    readonly scriptId: string;
    readonly url: string;
    /** The line in which the function starts, from 0; -1 if it is not known. */
    readonly lineNumber: number;
    readonly columnNumber: number;
  };
  hitCount: number;
  readonly children: number[];
  /** Lines of the function that were running, from 1. */
  readonly positionTicks: { readonly line: number; ticks: number }[];
}

/** Times are in microseconds. */
export interface CpuProfile {
  readonly nodes: readonly Node[];
  readonly startTime: number;
  readonly endTime: number;
  /** Ids of nodes. A sample lasts until the next one. */
  readonly samples: readonly number[];
  /** Each is the time since the sample before, the first one since `startTime`. */
  readonly timeDeltas: readonly number[];
}

const MICROS_PER_MILLI = 1000;

/** @param startMillis Unix time at which the block began */
export function cpuProfileOf(
  stacks: readonly SampledStack[],
  startMillis: number,
  durationMillis: number,
): CpuProfile {
  const nodes: Node[] = [];
  const childrenOf = new Map<Node, Map<string, Node>>();
  const add = (callFrame: Node['callFrame']): Node => {
    const id = nodes.length + 1;
    const node: Node = { id, callFrame, hitCount: 0, children: [], positionTicks: [] };
    nodes.push(node);
    childrenOf.set(node, new Map());
    return node;
  };
  const childOf = (parent: Node, frame: SampledFrame): Node => {
    const siblings = childrenOf.get(parent) as Map<string, Node>;
    const key = `${frame.name}\n${frame.file}\n${frame.functionLine}`;
    const known = siblings.get(key);
    if (known !== undefined) return known;
    const child = add(callFrameOf(frame));
    siblings.set(key, child);
    parent.children.push(child.id);
    return child;
  };

  const root = add(callFrameOf({ name: '(root)', file: '', line: 0, functionLine: 0 }));
  const samples: number[] = [];
  const timeDeltas = [0];
  for (const { frames, millis } of stacks) {
    const leaf = frames.toReversed().reduce(childOf, root);
    leaf.hitCount++;
    countLine(leaf, frames[0]?.line ?? 0);
    samples.push(leaf.id);
    timeDeltas.push(Math.round(millis * MICROS_PER_MILLI));
  }
  // The last stack ends here.
  samples.push(root.id);
  root.hitCount++;
  const startTime = Math.round(startMillis * MICROS_PER_MILLI);
  const sampledMicros = timeDeltas.reduce((sum, delta) => sum + delta, 0);
  const endTime =
    startTime + Math.max(sampledMicros, Math.round(durationMillis * MICROS_PER_MILLI));
  return { nodes, startTime, endTime, samples, timeDeltas };
}

function callFrameOf({ name, file, functionLine }: SampledFrame): Node['callFrame'] {
  return {
    functionName: name,
    scriptId: '0',
    url: urlOf(file),
    lineNumber: functionLine - 1,
    columnNumber: functionLine > 0 ? 0 : -1,
  };
}

/** A `file:` URL of an absolute path. */
function urlOf(file: string): string {
  const path = file.replaceAll('\\', '/');
  if (!/^(?:\/|[A-Za-z]:\/)/.test(path)) return file;
  const url = new URL('file:///');
  url.pathname = path.replaceAll('%', '%25');
  return url.href;
}

function countLine({ positionTicks }: Node, line: number): void {
  if (line === 0) return;
  const known = positionTicks.find((each) => each.line === line);
  if (known === undefined) positionTicks.push({ line, ticks: 1 });
  else known.ticks++;
}
