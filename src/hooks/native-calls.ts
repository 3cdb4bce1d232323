/**
 * Wraps built-in functions that can take long in a single call, so that a block inside one names
 * the function that made the call, the built-in, and the size of its input; and takes the call site
 * of calls that are known to be long before they begin.
 *
 * A wrapper keeps `name`, `length`, own properties, the property's attributes, `this`, arguments,
 * results and errors. `Function.prototype.toString` shows the wrapper. References that were taken
 * before (`const { parse } = JSON`) stay unwrapped; named imports of the modules of Node.js follow,
 * by `syncBuiltinESMExports`.
 */
import { syncBuiltinESMExports } from 'node:module';
import { attempt } from '../support/guard.ts';
import { type AddOn, functionsOf, loadedAddOns, wrapLoading } from './native-calls/add-ons.ts';
import { type BuiltIn, builtIns } from './native-calls/built-ins.ts';
import { inProgress } from './native-calls/in-progress.ts';
import type { LongCallListener, Switch } from './native-calls/long-calls.ts';
import { sqliteFunctions } from './native-calls/sqlite.ts';
import type { AnyFunction } from './native-calls/wrappers.ts';

export { emptyNativeCalls, inProgress, nativeCallIn } from './native-calls/in-progress.ts';
export type { LongCall, LongCallListener } from './native-calls/long-calls.ts';

/** A property that is wrapped, or was. */
interface Patch {
  readonly builtIn: BuiltIn;
  readonly wrapper: AnyFunction;
  /** What it was before. */
  readonly original: PropertyDescriptor;
}

/** Of add-ons: what loads the same one anew again and again is not followed for ever. */
const MAX_PATCHES = 500;

export class NativeCalls {
  readonly #power: Switch = { on: false, listener: undefined };
  /**
   * By what holds the property, and its key. Kept for the next `enable`: call sites that V8 has
   * compiled for a wrapper meet the same one again.
   */
  readonly #patches = new Map<object, Map<string, Patch>>();
  #patchCount = 0;
  #hasSqlite = false;
  #onError: (error: unknown) => void = () => {};

  /**
   * Wraps what can be wrapped. `listener` is called around calls that are known to be long. Does
   * nothing where it is enabled.
   */
  enable(onError: (error: unknown) => void, listener?: Omit<LongCallListener, 'onError'>): void {
    if (this.#power.on) return;
    this.#onError = onError;
    this.#power.on = true;
    this.#power.listener = listener && {
      entered: (call) => listener.entered(call),
      left: (call) => listener.left(call),
      emptied: () => listener.emptied?.(),
      onError,
    };
    inProgress.emptied = () => void attempt(() => listener?.emptied?.(), onError);
    const loading: BuiltIn = {
      holder: process,
      key: 'dlopen',
      name: 'process.dlopen',
      wrap: wrapLoading((addOn) => this.#patchAddOn(addOn)),
    };
    this.#patchAll([...builtIns(), loading]);
    for (const addOn of attempt(loadedAddOns, onError) ?? []) this.#patchAddOn(addOn);
    this.followSqlite();
    attempt(syncBuiltinESMExports, onError);
  }

  /**
   * Puts the originals back. A wrapper that other code has wrapped stays, and only calls its
   * original.
   */
  disable(): void {
    if (!this.#power.on) return;
    this.#power.on = false;
    this.#hasSqlite = false;
    this.#power.listener = undefined;
    inProgress.emptied = () => {};
    for (const ofHolder of this.#patches.values()) {
      for (const patch of ofHolder.values()) attempt(() => putBack(patch), this.#onError);
    }
    attempt(syncBuiltinESMExports, this.#onError);
  }

  /** Wraps `node:sqlite`, if it has been loaded since. To be called now and then. */
  followSqlite(): void {
    if (!this.#power.on || this.#hasSqlite) return;
    const found = attempt(() => sqliteFunctions((more) => this.#patchAll(more)), this.#onError);
    if (found === undefined) return;
    this.#hasSqlite = true;
    this.#patchAll(found);
  }

  #patchAll(functions: readonly BuiltIn[]): void {
    for (const each of functions) attempt(() => this.#patch(each), this.#onError);
  }

  #patchAddOn(addOn: AddOn): void {
    attempt(() => this.#patchAll(functionsOf(addOn)), this.#onError);
  }

  #patch(builtIn: BuiltIn): void {
    const { holder, key, name, wrap } = builtIn;
    const field = fieldOf(builtIn);
    // Of another realm, which outlives this one and would keep it alive (jest): not ours to change.
    if (!(holder instanceof Object)) return;
    const original = Object.getOwnPropertyDescriptor(holder, key);
    const current: unknown = original?.[field];
    if (typeof current !== 'function' || original?.configurable !== true) return;
    const known = this.#patches.get(holder)?.get(key);
    // An add-on that is loaded once more has the same exports.
    if (known?.wrapper === current) return;
    if (known === undefined && this.#patchCount >= MAX_PATCHES) return;
    const wrapper =
      known !== undefined && known.original[field] === current
        ? known.wrapper
        : dressedAs(current as AnyFunction, wrap(current as AnyFunction, this.#power, name));
    Object.defineProperty(holder, key, { ...original, [field]: wrapper });
    const ofHolder = this.#patches.get(holder) ?? new Map<string, Patch>();
    if (known === undefined) this.#patchCount++;
    this.#patches.set(holder, ofHolder.set(key, { builtIn, wrapper, original }));
  }
}

function fieldOf({ isGetter }: BuiltIn): 'get' | 'value' {
  return isGetter === true ? 'get' : 'value';
}

function putBack({ builtIn, wrapper, original }: Patch): void {
  const { holder, key } = builtIn;
  if (Object.getOwnPropertyDescriptor(holder, key)?.[fieldOf(builtIn)] === wrapper) {
    Object.defineProperty(holder, key, original);
  }
}

/**
 * With all that the original has: `name`, `length`, and whatever was put on it,
 * `util.promisify.custom` for one.
 */
function dressedAs(original: AnyFunction, wrapper: AnyFunction): AnyFunction {
  for (const key of Reflect.ownKeys(original)) {
    const descriptor = Object.getOwnPropertyDescriptor(original, key);
    if (descriptor !== undefined) Object.defineProperty(wrapper, key, descriptor);
  }
  if (Object.getPrototypeOf(original) !== Object.getPrototypeOf(wrapper)) {
    Object.setPrototypeOf(wrapper, Object.getPrototypeOf(original));
  }
  return wrapper;
}
