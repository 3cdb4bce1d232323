/**
 * The weighted call tree of one block: which functions ran, for how long, and what called them.
 * Promises: the place that it names is a function of the application wherever one was on the stack
 * for most of the block; and it is as large as the samples that it was made of (64 of 97 frames
 * each), and dropped with the block.
 */
import type { StackFrame } from '../block.ts';
import type { Step } from './stack-path.ts';

/** One sampled stack, and the milliseconds that it stands for. */
export interface Observation<S> {
  /** Outermost first. */
  readonly steps: readonly Step[];
  readonly weight: number;
  readonly sample: S;
  /** What ran innermost, if that is none of the steps: a function of an agent. */
  readonly leaf?: Step | undefined;
  /**
   * The innermost function was loading a module, whose code did not run; and which, where that is
   * known.
   */
  readonly isLoading?: boolean;
  readonly loads?: string | undefined;
}

/** One occurrence of a function on a sampled stack. */
interface Visit<S> {
  readonly frame: StackFrame;
  readonly weight: number;
  readonly sample: S;
}

/** A function, as it was called by the one above it. */
export interface TreeNode<S> {
  readonly step: Step;
  readonly children: Map<string, TreeNode<S>>;
  readonly visits: Visit<S>[];
  weight: number;
  /** Of it, the time with a function of the application at or below this one. */
  inAppWeight: number;
  /**
   * Time in which it loaded a module, and no code of that ran; by file, '' where that is not known.
   */
  readonly loading: Map<string, number>;
}

/** Where in a function, by time. */
export interface Position<S> {
  readonly frame: StackFrame;
  /** The one that stands for most of the time at this position. */
  readonly sample: S;
}

/** A function that ran at the innermost end of the stack. */
export interface Leaf<S> {
  readonly step: Step;
  readonly weight: number;
  readonly position: Position<S>;
}

export class CallTree<S> {
  /** All time that is in the tree. */
  readonly weight: number;
  readonly #roots = new Map<string, TreeNode<S>>();
  readonly #observations: {
    readonly observation: Observation<S>;
    readonly nodes: Set<TreeNode<S>>;
  }[] = [];

  constructor(observations: Iterable<Observation<S>>) {
    let weight = 0;
    for (const observation of observations) {
      if (leafOf(observation) === undefined || !(observation.weight > 0)) continue;
      weight += observation.weight;
      this.#add(observation);
    }
    this.weight = weight;
  }

  #add(observation: Observation<S>): void {
    const { steps, weight, sample } = observation;
    const lastInApp = steps.findLastIndex(({ origin }) => origin === 'app');
    const nodes = new Set<TreeNode<S>>();
    let children = this.#roots;
    for (const [depth, step] of steps.entries()) {
      let node = children.get(step.key);
      if (node === undefined) {
        node = {
          step,
          children: new Map(),
          visits: [],
          weight: 0,
          inAppWeight: 0,
          loading: new Map(),
        };
        children.set(step.key, node);
      }
      node.weight += weight;
      if (depth <= lastInApp) node.inAppWeight += weight;
      node.visits.push({ frame: step.frame, weight, sample });
      if (observation.isLoading === true && depth === steps.length - 1) {
        const file = observation.loads ?? '';
        node.loading.set(file, (node.loading.get(file) ?? 0) + weight);
      }
      nodes.add(node);
      children = node.children;
    }
    this.#observations.push({ observation, nodes });
  }

  /**
   * From the root down while one function has more than half of the block's time. Where that leads
   * to no function of the application, though one was on the stack for more than half of the time
   * at its end, it follows the heaviest of those; where it leads to dispatchers only, the heaviest
   * function down to a package that is none.
   */
  dominantPath(): TreeNode<S>[] {
    const path = descend(this.#roots, this.weight);
    if (path.some(isInApp)) return path;
    const end = path.at(-1);
    let children = end?.children ?? this.#roots;
    if (this.#inAppWeight(end) * 2 > (end?.weight ?? this.weight)) {
      while (!path.some(isInApp)) {
        const next = heaviestOf(children, ({ inAppWeight }) => inAppWeight);
        if (next === undefined) return path;
        path.push(next);
        children = next.children;
      }
    } else {
      while (!path.some(saysWhatRan)) {
        const next = heaviestOf(children, ({ weight }) => weight);
        // Dispatchers only: none of them says more than the one that all have in common.
        if (next === undefined)
          return end === undefined ? path : path.slice(0, path.indexOf(end) + 1);
        path.push(next);
        children = next.children;
      }
    }
    const last = path.at(-1);
    return last === undefined || last === end
      ? path
      : [...path, ...descend(last.children, last.weight)];
  }

  #inAppWeight(node: TreeNode<S> | undefined): number {
    if (node !== undefined) return node.inAppWeight;
    return sumOf(this.#roots.values(), ({ inAppWeight }) => inAppWeight);
  }

  /**
   * The innermost functions, the heaviest first; of those that `within` has called only, where it
   * is given.
   */
  leaves(within?: TreeNode<S>): Leaf<S>[] {
    const byKey = new Map<string, { step: Step; visits: Visit<S>[] }>();
    for (const { observation, nodes } of this.#observations) {
      if (within !== undefined && !nodes.has(within)) continue;
      const step = leafOf(observation) as Step;
      const leaf = byKey.get(step.key) ?? { step, visits: [] };
      leaf.visits.push({
        frame: step.frame,
        weight: observation.weight,
        sample: observation.sample,
      });
      byKey.set(step.key, leaf);
    }
    return [...byKey.values()]
      .map(({ step, visits }) => ({
        step,
        weight: sumOf(visits, ({ weight }) => weight),
        position: heaviestPosition(visits),
      }))
      .sort((a, b) => b.weight - a.weight);
  }
}

function leafOf<S>({ leaf, steps }: Observation<S>): Step | undefined {
  return leaf ?? steps.at(-1);
}

/**
 * The node that a block is named by: the deepest function of the application on the path. Without
 * one, the entry of the outermost package that is no dispatcher, which is the application's direct
 * dependency as far as a stack shows: below the last dispatcher where something is, since a
 * middleware that has called `next()` is still on the stack. Else the deepest of the path.
 */
export function placeOn<S>(path: readonly TreeNode<S>[]): TreeNode<S> | undefined {
  const place = placeOnSteps(path.map(({ step }) => step));
  return path.find(({ step }) => step === place);
}

/** As {@link placeOn}, of a single stack. */
export function placeOnSteps(path: readonly Step[]): Step | undefined {
  const inApp = path.findLast(({ origin }) => origin === 'app');
  if (inApp !== undefined) return inApp;
  const dispatched = path.findLastIndex(({ origin }) => origin === 'dispatcher') + 1;
  return path.slice(dispatched).find(isDependency) ?? path.find(isDependency) ?? path.at(-1);
}

/**
 * The line of a function where most of its time was spent, and there the column: of its own code,
 * or of the call it waits for.
 */
export function positionIn<S>({ visits }: TreeNode<S>): Position<S> {
  return heaviestPosition(visits);
}

/**
 * File of the module that a function was loading for more than half of its time, itself or through
 * a package, where it is known: the outermost one.
 */
export function moduleLoadedBy<S>(node: TreeNode<S>): string | undefined {
  const files = new Map<string, number>();
  addModules(node, files);
  if (sumOf(files.values(), (millis) => millis) * 2 <= node.weight) return undefined;
  files.delete('');
  return heaviest([...files], ([, millis]) => millis)?.[0];
}

function addModules<S>({ children, loading }: TreeNode<S>, files: Map<string, number>): void {
  const add = (file: string, millis: number) => files.set(file, (files.get(file) ?? 0) + millis);
  for (const [file, millis] of loading) add(file, millis);
  for (const child of children.values()) {
    if (child.step.isModule) add(child.step.frame.file ?? '', child.weight);
    else addModules(child, files);
  }
}

function isInApp<S>({ step }: TreeNode<S>): boolean {
  return step.origin === 'app';
}

function isDependency({ origin }: Step): boolean {
  return origin === 'dependency';
}

function saysWhatRan<S>({ step }: TreeNode<S>): boolean {
  return step.origin === 'app' || step.origin === 'dependency';
}

/** Down while one child has more than half of `total`. */
function descend<S>(roots: ReadonlyMap<string, TreeNode<S>>, total: number): TreeNode<S>[] {
  const path: TreeNode<S>[] = [];
  let children = roots;
  for (;;) {
    const next = heaviestOf(children, ({ weight }) => weight);
    if (next === undefined || next.weight * 2 <= total) return path;
    path.push(next);
    children = next.children;
  }
}

function heaviestPosition<S>(visits: readonly Visit<S>[]): Position<S> {
  const onLine = heaviestGroup(visits, ({ frame }) => frame.line);
  const atColumn = heaviestGroup(onLine, ({ frame }) => frame.column);
  const ofSample = heaviestGroup(atColumn, ({ sample }) => sample);
  const { frame, sample } = ofSample[0] as Visit<S>;
  return { frame, sample };
}

/** Those visits that have something in common, the heaviest ones together. */
function heaviestGroup<S>(
  visits: readonly Visit<S>[],
  by: (visit: Visit<S>) => unknown,
): Visit<S>[] {
  const groups = new Map<unknown, Visit<S>[]>();
  for (const visit of visits) {
    const group = groups.get(by(visit));
    if (group === undefined) groups.set(by(visit), [visit]);
    else group.push(visit);
  }
  return heaviest([...groups.values()], (group) => sumOf(group, ({ weight }) => weight)) ?? [];
}

function heaviestOf<S>(
  nodes: ReadonlyMap<string, TreeNode<S>>,
  weigh: (node: TreeNode<S>) => number,
): TreeNode<S> | undefined {
  return heaviest([...nodes.values()], weigh);
}

/** The first of the heaviest; undefined where nothing has a weight. */
function heaviest<T>(items: readonly T[], weigh: (item: T) => number): T | undefined {
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

function sumOf<T>(items: Iterable<T>, weigh: (item: T) => number): number {
  let sum = 0;
  for (const item of items) sum += weigh(item);
  return sum;
}
