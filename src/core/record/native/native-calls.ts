/**
 * Wraps built-in functions that can take long in a single call, so that a block inside one names
 * the function that made the call, the built-in, and the size of its input; and takes the call site
 * of calls that are known to be long before they begin.
 *
 * `Function.prototype.toString` shows the wrapper. References that were taken before
 * (`const { parse } = JSON`) stay unwrapped; named imports of the modules of Node.js follow.
 */
import { syncBuiltinESMExports } from 'node:module';
import { copies, putBackKeptWrappers } from '../../../support/copies.ts';
import { attempt } from '../../../support/guard.ts';
import { type AnyFunction, Patch } from '../../../support/patch.ts';
import { type AddOn, functionsOf, loadedAddOns, wrapLoading } from './add-ons.ts';
import { type BuiltIn, builtIns, isModule } from './built-ins.ts';
import { callStack, type LongCallListener } from './call-stack.ts';
import { sqliteFunctions } from './sqlite.ts';

/** A limit for code that loads the same add-on anew again and again. */
const MAX_PATCHES = 500;

export class NativeCalls {
  #isOn = false;
  /** By what holds the property, and its key. Kept for the next `enable`. */
  readonly #patches = new Map<object, Map<string, Patch<AnyFunction>>>();
  #patchCount = 0;
  #hasSqlite = false;
  /** An export of a module has changed, and named imports of it do not follow yet. */
  #isUnpublished = false;
  #onError: (error: unknown) => void = () => {};

  /**
   * Wraps what can be wrapped. `listener` is called around calls that are known to be long. Does
   * nothing if it is enabled.
   */
  enable(onError: (error: unknown) => void, listener?: LongCallListener): void {
    if (this.#isOn) return;
    this.#onError = onError;
    this.#isOn = true;
    // Of another copy of the package: around them, these would keep them in for ever.
    putBackKeptWrappers();
    callStack.listener = listener;
    const loading: BuiltIn = {
      holder: process,
      key: 'dlopen',
      name: 'process.dlopen',
      wrap: wrapLoading((addOn) => this.#patchAddOn(addOn)),
    };
    this.#patchAll([...builtIns(), loading]);
    this.#publish();
    for (const addOn of attempt(loadedAddOns, onError) ?? []) this.#patchAddOn(addOn);
    this.followSqlite();
  }

  /**
   * Puts back what others have not wrapped since; while wrappers are kept, later. The rest only
   * calls the original.
   */
  disable(): void {
    if (!this.#isOn) return;
    this.#isOn = false;
    this.#hasSqlite = false;
    callStack.listener = undefined;
    const { areWrappersKept, putBack } = copies();
    if (areWrappersKept) putBack.add(this.#putBack);
    else this.#putBack();
  }

  readonly #putBack = (): void => {
    if (this.#isOn) return;
    for (const [holder, ofHolder] of this.#patches) {
      for (const patch of ofHolder.values()) {
        const isBack = attempt(() => patch.putBack(), this.#onError) === true;
        this.#isUnpublished ||= isBack && isModule(holder);
      }
    }
    this.#publish();
  };

  /** Wraps `node:sqlite`, if it has been loaded since. Call it now and then. */
  followSqlite(): void {
    if (!this.#isOn || this.#hasSqlite) return;
    const found = attempt(() => sqliteFunctions((more) => this.#patchAll(more)), this.#onError);
    if (found === undefined) return;
    this.#hasSqlite = true;
    this.#patchAll(found);
  }

  /**
   * For named imports. Node.js publishes the exports of all its modules then, with what others have
   * put on them.
   */
  #publish(): void {
    if (this.#isUnpublished) attempt(syncBuiltinESMExports, this.#onError);
    this.#isUnpublished = false;
  }

  #patchAll(functions: readonly BuiltIn[]): void {
    for (const each of functions) attempt(() => this.#patch(each), this.#onError);
  }

  #patchAddOn(addOn: AddOn): void {
    attempt(() => this.#patchAll(functionsOf(addOn)), this.#onError);
  }

  #patch({ holder, key, name, wrap }: BuiltIn): void {
    // It belongs to another realm (jest), which would keep this one alive: leave it alone.
    if (!(holder instanceof Object)) return;
    const ofHolder = this.#patches.get(holder) ?? new Map<string, Patch<AnyFunction>>();
    const known = ofHolder.get(key);
    if (known === undefined && this.#patchCount >= MAX_PATCHES) return;
    const patch =
      known ??
      new Patch<AnyFunction>(holder, key, (original, state) => wrap(original, state, name));
    if (!patch.apply()) return;
    this.#isUnpublished ||= isModule(holder);
    if (known !== undefined) return;
    this.#patchCount++;
    this.#patches.set(holder, ofHolder.set(key, patch));
  }
}
