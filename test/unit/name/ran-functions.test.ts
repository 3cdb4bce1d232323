import { ranFunctions } from '../../../src/name/call-tree.ts';
import type { Step } from '../../../src/name/stack-path.ts';

/** Outermost first; a name that begins with `lib` is of a package. */
const stack = (weight: number, ...names: string[]) => ({
  weight,
  steps: names.map(
    (name) =>
      ({
        name,
        key: name,
        frame: {},
        origin: name.startsWith('lib') ? 'dependency' : 'app',
      }) as unknown as Step,
  ),
});
const timesOf = (...stacks: ReturnType<typeof stack>[]) =>
  Object.fromEntries(ranFunctions(stacks).map(({ step, millis }) => [step.name, millis]));

test('what ran itself, for as long as it was on the stack; not what only called it', () => {
  const stacks = [stack(40, 'test', 'render', 'hashRow'), stack(60, 'test', 'render')];
  expect(timesOf(...stacks)).toEqual({ render: 100, hashRow: 40 });
});

test('a function that comes twice on one stack is counted once', () => {
  expect(timesOf(stack(50, 'walk', 'visit', 'walk'))).toEqual({ walk: 50 });
});
