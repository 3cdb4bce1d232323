/**
 * Tells of code that V8 may end half-way: `vm` with a `timeout` or `breakOnSigint`. If V8 does so
 * during a stack sample, it ends only the sample, and the code would run forever.
 */
import vm from 'node:vm';
import { attempt } from '../../support/guard.ts';
import { Patch, type Switch } from '../../support/patch.ts';

export type RunLimited = (code: () => unknown) => unknown;

export const limitedRuns = {
  start(run: RunLimited): void {
    for (const patch of patches) attempt(() => patch.apply(run));
  },
  stop(run: RunLimited): void {
    for (const patch of patches) attempt(() => patch.putBack(run));
  },
};

interface ModuleOptions {
  readonly timeout?: unknown;
  readonly breakOnSigint?: unknown;
}

// biome-ignore lint/suspicious/noExplicitAny: functions of Node.js that are called as they are
type Run = (this: any, ...args: any[]) => unknown;

function call(
  { user: run }: Readonly<Switch<RunLimited>>,
  timeout: unknown,
  breaksOnSigint: unknown,
  code: () => unknown,
) {
  const isLimited = typeof timeout === 'number' && timeout > 0;
  if (run === undefined || !(isLimited || breaksOnSigint === true)) return code();
  return run(code);
}

/** All of `vm` calls these at the time of the run (Node.js 20 to 26). */
const patches = [
  new Patch<Run, RunLimited>(
    Object.getPrototypeOf(vm.Script.prototype),
    'runInContext',
    (original, state) =>
      ({
        runInContext(this: unknown, ...args: unknown[]) {
          return call(state, args[1], args[3], () => Reflect.apply(original, this, args));
        },
      }).runInContext,
  ),
  ...moduleClasses().map(
    (prototype) =>
      new Patch<Run, RunLimited>(
        prototype,
        'evaluate',
        (original, state) =>
          ({
            evaluate(this: unknown, ...args: [ModuleOptions?]) {
              const { timeout, breakOnSigint } = args[0] ?? {};
              return call(state, timeout, breakOnSigint, () => Reflect.apply(original, this, args));
            },
          }).evaluate,
      ),
  ),
];

/** `SourceTextModule` needs `--experimental-vm-modules`. */
function moduleClasses(): object[] {
  const { SourceTextModule } = vm as { SourceTextModule?: { readonly prototype: object } };
  return SourceTextModule === undefined ? [] : [Object.getPrototypeOf(SourceTextModule.prototype)];
}
