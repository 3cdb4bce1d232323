/**
 * The functions that a block can be named by, and for how long each was on the stack. A caller that
 * only calls one other function is none of them.
 */
import { placeOnSteps } from './call-tree.ts';
import type { Step } from './stack-path.ts';

export interface RanFunction {
  readonly step: Step;
  millis: number;
  /** Without the time of the function that it called for longest. */
  apartMillis: number;
}

/** It ran itself, or its time is divided between those that it called. */
const OWN = '';

export function ranFunctions(
  observations: Iterable<{ readonly steps: readonly Step[]; readonly weight: number }>,
): RanFunction[] {
  const functions = new Map<string, RanFunction & { readonly called: Map<string, number> }>();
  for (const { steps, weight } of observations) {
    if (!(weight > 0)) continue;
    const inApp = steps.filter(({ origin }) => origin === 'app');
    const place = placeOnSteps(steps);
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
      const callee = chain[i + 1]?.key ?? OWN;
      known.called.set(callee, (known.called.get(callee) ?? 0) + weight);
    }
  }
  for (const ran of functions.values()) {
    const callees = [...ran.called].filter(([key]) => key !== OWN).map(([, millis]) => millis);
    ran.apartMillis = ran.millis - Math.max(0, ...callees);
  }
  return [...functions.values()].filter(({ called }) => called.has(OWN) || called.size > 1);
}
