/**
 * The functions that a block can be named by, and for how long each was on the stack. A caller that
 * only calls one other function is none of them.
 */
import { placeOnSteps } from './call-tree.ts';
import type { Step } from './stack-path.ts';

export interface RanFunction {
  readonly step: Step;
  millis: number;
}

/** It ran itself, or its time is divided between those that it called. */
const OWN = '';

export function ranFunctions(
  observations: Iterable<{ readonly steps: readonly Step[]; readonly weight: number }>,
): RanFunction[] {
  const functions = new Map<string, RanFunction & { readonly called: Set<string> }>();
  for (const { steps, weight } of observations) {
    if (!(weight > 0)) continue;
    const inApp = steps.filter(({ origin }) => origin === 'app');
    const place = placeOnSteps(steps);
    const chain = inApp.length > 0 || place === undefined ? inApp : [place];
    const counted = new Set<string>();
    for (const [i, step] of chain.entries()) {
      const known = functions.get(step.key) ?? { step, millis: 0, called: new Set() };
      functions.set(step.key, known);
      if (!counted.has(step.key)) known.millis += weight;
      counted.add(step.key);
      known.called.add(chain[i + 1]?.key ?? OWN);
    }
  }
  return [...functions.values()].filter(({ called }) => called.has(OWN) || called.size > 1);
}
