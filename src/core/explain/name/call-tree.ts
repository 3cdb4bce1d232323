/**
 * The weighted call tree of one block: which functions ran, for how long, and what called them.
 *
 * Guarantees: the place that it names is a function of the application if one was on the stack for
 * most of the block; it is as large as the samples that it was made of (64 of 97 frames each), and
 * is dropped with the block.
 */
import type { StackFrame } from '../../../block.ts';
import { scopeOf } from './packages.ts';
import { placesOn, type Step } from './stack-path.ts';
import type { TimedSample } from './weights.ts';

/** One sampled stack, and the milliseconds that it stands for. */
export interface Observation {
  /** Outermost first. */
  readonly steps: readonly Step[];
  readonly weight: number;
  readonly sample: TimedSample;
  /** True while the innermost function loads the module `loads`, whose code does not run yet. */
  readonly isLoading?: boolean;
  readonly loads?: string | undefined;
}

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
}

/** A function, with the time in which it ran innermost, or called. */
export interface Leaf {
  readonly step: Step;
  readonly weight: number;
  readonly visits: Visit[];
}

/** Of so many, a function that takes a quarter is seen in more than one. */
const MANY_SAMPLES = 4;

const samplesOf = (of: readonly { readonly observation: Observation }[]) =>
  new Set(of.map(({ observation }) => observation.sample)).size;

export class CallTree {
  readonly #root = nodeOf({} as Step);
  /** With the time in which nothing ran that can be named. */
  #sampled = 0;
  readonly #observations: { readonly observation: Observation; readonly nodes: Set<TreeNode> }[] =
    [];

  /** Milliseconds of the block of which a function must have more than half. */
  readonly #whole: number;

  /**
   * @param lackedCpuMillis nothing ran for so much of it
   * @param whole by default the time in which what ran can be named
   */
  constructor(
    observations: Iterable<Observation>,
    private readonly lackedCpuMillis = 0,
    whole?: number,
  ) {
    for (const observation of observations) {
      this.#sampled += observation.weight;
      if (observation.steps.length > 0 && observation.weight > 0) this.#add(observation);
    }
    this.#whole = whole ?? this.weight;
  }

  get #ran(): number {
    return Math.max(this.weight, this.#sampled - this.lackedCpuMillis);
  }

  get weight(): number {
    return this.#root.weight;
  }

  #add(observation: Observation): void {
    const { steps, weight, sample } = observation;
    let node = this.#root;
    const nodes = new Set([node]);
    node.weight += weight;
    for (const step of placesOn(steps)) {
      const child = node.children.get(step.key) ?? nodeOf(step);
      node.children.set(step.key, child);
      child.weight += weight;
      child.visits.push({ frame: step.frame, weight, sample });
      nodes.add(child);
      node = child;
    }
    this.#observations.push({ observation, nodes });
  }

  /**
   * The place that the block is named by: rule 6 of the README. If its heaviest function has less
   * than half of the block, half of that function's time is the bar for its callees, and none is
   * named if `below` knows one of the application.
   */
  place(): TreeNode | undefined {
    const all = [...this.#root.children.values()];
    const ran = all.filter(({ step }) => step.origin !== 'agent');
    const units = new Map<string, number>();
    for (const { step, weight } of ran.length > 0 ? ran : all) addTo(units, unitOf(step), weight);
    const [unit, ofUnit = 0] = heaviest(units, ([, weight]) => weight) ?? [];
    const from = heaviest(
      all.filter(({ step }) => unitOf(step) === unit),
      ({ weight }) => weight,
    );
    const isMost = from !== undefined && from.weight * 2 > this.weight;
    if (unit === '' && !isMost && this.#onMost('app').length > 0) return undefined;
    const place = from && descend(from, isMost ? this.#whole : from.weight);
    if (place === undefined || ofUnit * 4 < this.#ran) return undefined;
    if (unit !== '' && ofUnit * 2 >= this.weight) return place;
    return this.#onStack(place) * 4 >= this.weight ? place : undefined;
  }

  /** Was seen in one of many samples only: in a pile-up that may be by chance. */
  isRare({ step: { key } }: TreeNode): boolean {
    const on = this.#observations.filter(({ nodes }) => [...nodes].some((n) => n.step.key === key));
    return samplesOf(on) < 2 && samplesOf(this.#observations) >= MANY_SAMPLES;
  }

  /** Counts a function once in a sample, whatever had called it. */
  #onStack({ step: { key } }: TreeNode): number {
    const on = this.#observations.filter(({ nodes }) => [...nodes].some((n) => n.step.key === key));
    return on.reduce((sum, { observation }) => sum + observation.weight, 0);
  }

  /**
   * The tree from the function on that most of the block has on its stack, whatever had called it:
   * the innermost of the application, else the outermost of packages. Undefined if there is none.
   */
  below(): CallTree | undefined {
    const app = heaviest(this.#onMost('app'), ({ weight }) => 1 / weight);
    const dependency = () => heaviest(this.#onMost('dependency'), ({ weight }) => weight);
    const key = (app ?? dependency())?.step.key;
    if (key === undefined) return undefined;
    const observations = this.#observations.flatMap(({ observation }) => {
      const at = observation.steps.findIndex((step) => step.key === key);
      return at === -1 ? [] : [{ ...observation, steps: observation.steps.slice(at) }];
    });
    return new CallTree(observations, 0, this.weight);
  }

  /** Functions that half of the time has on its stack. */
  #onMost(origin: Step['origin']): { readonly step: Step; readonly weight: number }[] {
    const on = new Map<string, { step: Step; weight: number }>();
    for (const { observation } of this.#observations)
      for (const step of new Map(observation.steps.map((each) => [each.key, each])).values()) {
        const { weight = 0 } = on.get(step.key) ?? {};
        on.set(step.key, { step, weight: weight + observation.weight });
      }
    return [...on.values()].filter(
      ({ step, weight }) => step.origin === origin && weight * 2 >= this.#sampled,
    );
  }

  /**
   * File of the module that a function was loading for more than half of its time, itself or
   * through a package: the outermost one. Undefined if it is not known.
   */
  moduleLoadedBy(node: TreeNode): string | undefined {
    const files = new Map<string, number>();
    let millis = 0;
    for (const { observation, nodes } of this.#observations) {
      if (!nodes.has(node)) continue;
      const { steps, weight, isLoading, loads = '' } = observation;
      const at = steps.findIndex(({ key }) => key === node.step.key);
      const module = steps.slice(at + 1).find(({ isModule }) => isModule);
      if (module === undefined && !isLoading) continue;
      addTo(files, module === undefined ? loads : (module.frame.file ?? ''), weight);
      millis += weight;
    }
    if (millis * 2 <= node.weight) return undefined;
    files.delete('');
    return heaviest(files, ([, weight]) => weight)?.[0];
  }

  /** The innermost functions, the heaviest first; only those that `within` has called, if given. */
  leaves(within: TreeNode = this.#root): Leaf[] {
    return this.#sumsOf(({ steps }, nodes) => (nodes.has(within) ? steps.at(-1) : undefined));
  }

  /**
   * The nearest function of the application in another file that has called `place` for most of its
   * time. In the same file a reader finds it without help.
   */
  callerOf(place: Step): Leaf | undefined {
    if (place.origin !== 'app') return undefined;
    let millis = 0;
    const [most] = this.#sumsOf(({ steps, weight }) => {
      const at = steps.findIndex(({ key }) => key === place.key);
      if (at === -1) return undefined;
      millis += weight;
      return steps
        .slice(0, at)
        .findLast(({ origin, frame }) => origin === 'app' && frame.file !== place.frame.file);
    });
    return most !== undefined && most.weight * 2 > millis ? most : undefined;
  }

  /** Adds up the functions that `choose` takes of each observation, the heaviest first. */
  #sumsOf(
    choose: (observation: Observation, nodes: ReadonlySet<TreeNode>) => Step | undefined,
  ): Leaf[] {
    const byKey = new Map<string, { step: Step; weight: number; visits: Visit[] }>();
    for (const { observation, nodes } of this.#observations) {
      const step = choose(observation, nodes);
      if (step === undefined) continue;
      const { weight, sample } = observation;
      const sum = byKey.get(step.key) ?? { step, weight: 0, visits: [] };
      sum.weight += weight;
      sum.visits.push({ frame: step.frame, weight, sample });
      byKey.set(step.key, sum);
    }
    return [...byKey.values()].sort((a, b) => b.weight - a.weight);
  }
}

function nodeOf(step: Step): TreeNode {
  return { step, children: new Map(), visits: [], weight: 0 };
}

/** Packages of one scope are one unit; code without a file is a unit by itself. */
function unitOf(step: Step): string {
  return step.origin === 'app' ? '' : scopeOf(step.package) || step.key;
}

/** Follows the heaviest function while it has more than half of `millis`. */
function descend(from: TreeNode, millis: number): TreeNode {
  let node = from;
  for (;;) {
    const next = heaviest(node.children.values(), ({ weight }) => weight);
    if (next === undefined || next.weight * 2 <= millis) return node;
    node = next;
  }
}

/** The line with most of the function's time, on it the column, and there the sample. */
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

function addTo<Key>(sums: Map<Key, number>, key: Key, value: number): void {
  sums.set(key, (sums.get(key) ?? 0) + value);
}

/** The element with the largest weight, the first one on ties; undefined if all weights are 0. */
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
