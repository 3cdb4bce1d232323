/**
 * The weighted call tree of one block: which functions ran, for how long, and what called them.
 *
 * Guarantees: the place that it names is a function of the application if one was on the stack for
 * most of the block; it is as large as the samples that it was made of (64 of 97 frames each), and
 * is dropped with the block.
 */
import type { StackFrame } from '../block.ts';
import type { Step } from './stack-path.ts';
import type { TimedSample } from './weights.ts';

/** One sampled stack, and the milliseconds that it stands for. */
export interface Observation {
  /** Outermost first. */
  readonly steps: readonly Step[];
  readonly weight: number;
  readonly sample: TimedSample;
  /** What ran innermost, if that is none of the steps: a function of an agent. */
  readonly leaf?: Step | undefined;
  /** The innermost function was loading a module, whose code did not run; and which, if known. */
  readonly isLoading?: boolean;
  readonly loads?: string | undefined;
}

/** One occurrence of a function on a sampled stack. */
interface Visit {
  readonly frame: StackFrame;
  readonly weight: number;
  readonly sample: TimedSample;
}

/** A function, as it was called by the one above it. */
export interface TreeNode {
  readonly step: Step;
  readonly children: Map<string, TreeNode>;
  readonly visits: Visit[];
  weight: number;
  /** The part of it with a function of the application at or below this one. */
  inAppWeight: number;
  /** Time in which it loaded a module, and no code of that ran; by file, '' if not known. */
  readonly loading: Map<string, number>;
}

/** A function that ran at the innermost end of the stack. */
export interface Leaf {
  readonly step: Step;
  readonly weight: number;
  readonly visits: Visit[];
}

export class CallTree {
  readonly #root = nodeOf({} as Step);
  readonly #observations: { readonly observation: Observation; readonly nodes: Set<TreeNode> }[] =
    [];

  constructor(observations: Iterable<Observation>) {
    for (const observation of observations)
      if (leafOf(observation) !== undefined && observation.weight > 0) this.#add(observation);
  }

  /** All time that is in the tree. */
  get weight(): number {
    return this.#root.weight;
  }

  #add(observation: Observation): void {
    const { steps, weight, sample, isLoading, loads = '' } = observation;
    const lastInApp = steps.findLastIndex(({ origin }) => origin === 'app');
    let node = this.#root;
    const nodes = new Set([node]);
    node.weight += weight;
    if (lastInApp !== -1) node.inAppWeight += weight;
    for (const [depth, step] of steps.entries()) {
      const child = node.children.get(step.key) ?? nodeOf(step);
      node.children.set(step.key, child);
      child.weight += weight;
      if (depth <= lastInApp) child.inAppWeight += weight;
      child.visits.push({ frame: step.frame, weight, sample });
      nodes.add(child);
      node = child;
    }
    if (isLoading) addTo(node.loading, loads, weight);
    this.#observations.push({ observation, nodes });
  }

  /**
   * The way from the root to what the block is named by:
   *
   * 1. Down while one function has more than half of the block's time. That is the way if it leads
   *    to a function of the application.
   * 2. If functions of the application had more than half of the time at its end: on along the
   *    heaviest of those, down to one.
   * 3. Else on along the heaviest function, down to a package that is no dispatcher. If there are
   *    only dispatchers, or one of them ran itself for longer than any function that it called, it
   *    is the way of 1, if that has a function: none of the others says more than what all have in
   *    common.
   * 4. After 2 or 3 down again, while one function has more than half of the time that is left.
   */
  dominantPath(): TreeNode[] {
    const path = descend(this.#root);
    if (path.some(({ step }) => step.origin === 'app')) return path;
    let node = path.at(-1) ?? this.#root;
    const isAppBelow = node.inAppWeight * 2 > node.weight;
    const isEnough = ({ step: { origin } }: TreeNode) =>
      origin === 'app' || (origin === 'dependency' && !isAppBelow);
    if (path.some(isEnough)) return path;
    const onward: TreeNode[] = [];
    do {
      const weigh = (each: TreeNode) => (isAppBelow ? each.inAppWeight : each.weight);
      const next = heaviest(node.children.values(), weigh);
      if (next === undefined || (!isAppBelow && ownWeight(node) > next.weight))
        return path.length > 0 ? path : onward;
      onward.push(next);
      node = next;
    } while (!isEnough(node));
    return [...path, ...onward, ...descend(node)];
  }

  /** The innermost functions, the heaviest first; only those that `within` has called, if given. */
  leaves(within: TreeNode = this.#root): Leaf[] {
    const byKey = new Map<string, { step: Step; weight: number; visits: Visit[] }>();
    for (const { observation, nodes } of this.#observations) {
      if (!nodes.has(within)) continue;
      const { weight, sample } = observation;
      const step = leafOf(observation) as Step;
      const leaf = byKey.get(step.key) ?? { step, weight: 0, visits: [] };
      leaf.weight += weight;
      leaf.visits.push({ frame: step.frame, weight, sample });
      byKey.set(step.key, leaf);
    }
    return [...byKey.values()].sort((a, b) => b.weight - a.weight);
  }
}

function nodeOf(step: Step): TreeNode {
  const node = { step, children: new Map(), visits: [], loading: new Map() };
  return { ...node, weight: 0, inAppWeight: 0 };
}

function leafOf({ leaf, steps }: Observation): Step | undefined {
  return leaf ?? steps.at(-1);
}

/** The part of a function's time in which it ran itself. */
function ownWeight({ children, weight }: TreeNode): number {
  let own = weight;
  for (const child of children.values()) own -= child.weight;
  return own;
}

/** Down while one function has more than half of the time of `from`. */
function descend(from: TreeNode): TreeNode[] {
  const path: TreeNode[] = [];
  let node = from;
  for (;;) {
    const next = heaviest(node.children.values(), ({ weight }) => weight);
    if (next === undefined || next.weight * 2 <= from.weight) return path;
    path.push(next);
    node = next;
  }
}

/**
 * The function that a way is named by:
 *
 * 1. The deepest one of the application.
 * 2. The outermost one of a package that is no dispatcher, below the last dispatcher: a middleware
 *    that has called `next()` is still on the stack.
 * 3. The same above the last dispatcher.
 * 4. The deepest one.
 */
export function placeOn(path: readonly Step[]): Step | undefined {
  const inApp = path.findLast(({ origin }) => origin === 'app');
  if (inApp !== undefined) return inApp;
  const isDependency = ({ origin }: Step) => origin === 'dependency';
  const dispatched = path.findLastIndex(({ origin }) => origin === 'dispatcher') + 1;
  return path.slice(dispatched).find(isDependency) ?? path.find(isDependency) ?? path.at(-1);
}

/**
 * The line of a function with most of its time, there the column, and there the sample: the column
 * is that of its own code, or of the call that it waits for.
 */
export function heaviestVisit({ visits }: Pick<TreeNode, 'visits'>): Visit {
  const onLine = heaviestGroup(visits, ({ frame }) => frame.line);
  const atColumn = heaviestGroup(onLine, ({ frame }) => frame.column);
  return heaviestGroup(atColumn, ({ sample }) => sample)[0] as Visit;
}

function heaviestGroup(visits: readonly Visit[], keyOf: (visit: Visit) => unknown): Visit[] {
  const sums = new Map<unknown, number>();
  for (const visit of visits) addTo(sums, keyOf(visit), visit.weight);
  const [key] = heaviest(sums, ([, weight]) => weight) ?? [];
  return visits.filter((visit) => keyOf(visit) === key);
}

/**
 * File of the module that a function was loading for more than half of its time, itself or through
 * a package: the outermost one. Undefined if it is not known.
 */
export function moduleLoadedBy(node: TreeNode): string | undefined {
  const files = new Map<string, number>();
  addModules(node, files);
  let millis = 0;
  for (const each of files.values()) millis += each;
  if (millis * 2 <= node.weight) return undefined;
  files.delete('');
  return heaviest(files, ([, weight]) => weight)?.[0];
}

function addModules({ children, loading }: TreeNode, files: Map<string, number>): void {
  for (const [file, millis] of loading) addTo(files, file, millis);
  for (const child of children.values()) {
    if (child.step.isModule) addTo(files, child.step.frame.file ?? '', child.weight);
    else addModules(child, files);
  }
}

function addTo<Key>(sums: Map<Key, number>, key: Key, value: number): void {
  sums.set(key, (sums.get(key) ?? 0) + value);
}

/** The first of the heaviest; undefined if nothing has a weight. */
function heaviest<T>(items: Iterable<T>, weigh: (item: T) => number): T | undefined {
  let best: T | undefined;
  let most = 0;
  for (const item of items) {
    const weight = weigh(item);
    if (weight > most) {
      best = item;
      most = weight;
    }
  }
  return best;
}

/** A function that a block can be named by, and for how long it was on the stack. */
interface RanFunction {
  readonly step: Step;
  millis: number;
  /** Without the time of the function that it called for longest. */
  apartMillis: number;
}

/** It ran itself, or its time is divided between those that it called. */
const ITSELF = '';

/**
 * All functions that a block can be named by. A caller that only calls one other function is none
 * of them.
 */
export function ranFunctions(
  observations: Iterable<Pick<Observation, 'steps' | 'weight'>>,
): RanFunction[] {
  const functions = new Map<string, RanFunction & { readonly called: Map<string, number> }>();
  for (const { steps, weight } of observations) {
    if (!(weight > 0)) continue;
    const inApp = steps.filter(({ origin }) => origin === 'app');
    const place = placeOn(steps);
    const chain = inApp.length > 0 || place === undefined ? inApp : [place];
    const counted = new Set<string>();
    for (const [i, step] of chain.entries()) {
      const known = functions.get(step.key) ?? {
        step,
        millis: 0,
        apartMillis: 0,
        called: new Map<string, number>(),
      };
      functions.set(step.key, known);
      if (!counted.has(step.key)) known.millis += weight;
      counted.add(step.key);
      const callee = chain[i + 1]?.key ?? ITSELF;
      known.called.set(callee, (known.called.get(callee) ?? 0) + weight);
    }
  }
  for (const ran of functions.values()) {
    const callees = [...ran.called].filter(([key]) => key !== ITSELF).map(([, millis]) => millis);
    ran.apartMillis = ran.millis - Math.max(0, ...callees);
  }
  return [...functions.values()].filter(({ called }) => called.has(ITSELF) || called.size > 1);
}
