/**
 * Replaces a function of somebody else's. Guarantees:
 *
 * 1. The wrapper has the original's `name`, `length`, own properties and prototype. The property
 *    keeps its attributes, and an accessor is left alone. A method that is inherited becomes an own
 *    property, which is not enumerable, until it is put back.
 * 2. What may not be changed is left alone: a property that is read-only or not configurable, and a
 *    method that is inherited by an object that takes no properties. So is a class, if its wrapper
 *    cannot be called with `new`.
 * 3. The original is put back only if nobody has replaced the wrapper since. Otherwise the wrapper
 *    stays, and only calls the original.
 * 4. At most one wrapper of a patch does more than that at any time. A wrapper that had to stay
 *    does its work again, instead of another one around it; and a function that is wrapped once
 *    more gets the same wrapper, for which V8 has compiled call sites.
 *
 * All of it is decided when the wrapper is put in or out: a call costs what the wrapper costs.
 * `this`, the result and errors are passed on by the wrapper itself.
 */

// biome-ignore lint/suspicious/noExplicitAny: these stand for functions of any kind
export type AnyFunction = (this: any, ...args: any[]) => any;

/** Asked by a wrapper on each call. */
export interface Switch<User = unknown> {
  /** False: the wrapper does nothing but call the original. */
  on: boolean;
  /** For whom it works; undefined while it is off. */
  user: User | undefined;
}

export type Wrap<Fn, User = unknown> = (original: Fn, state: Readonly<Switch<User>>) => Fn;

interface Wrapper<Fn, User> {
  readonly original: Fn;
  readonly fn: Fn;
  readonly state: Switch<User>;
}

/**
 * One property that is replaced, for one user at a time. None of its methods throws, unless a
 * proxy's trap does.
 */
export class Patch<Fn extends AnyFunction, User = unknown> {
  #wrapper: Wrapper<Fn, User> | undefined;
  #isInherited = false;
  /** The wrapper is called, on its own or by what others have wrapped around it. */
  #isIn = false;

  constructor(
    private readonly holder: object,
    private readonly key: PropertyKey,
    private readonly wrap: Wrap<Fn, User>,
  ) {}

  /** @returns false if the property is left alone */
  apply(user?: User): boolean {
    const { holder, key } = this;
    const property = findProperty(holder, key);
    const current: Fn | undefined = property?.value;
    if (typeof current !== 'function') return false;
    let wrapper = this.#wrapper;
    if (
      wrapper === undefined ||
      (current !== wrapper.fn && (current === wrapper.original || !this.#isIn))
    ) {
      wrapper = this.#replace(property as PropertyDescriptor, current);
      if (wrapper === undefined) return false;
    }
    wrapper.state.on = true;
    wrapper.state.user = user;
    return true;
  }

  /**
   * Does nothing if another user has come since.
   * @returns whether the original is back
   */
  putBack(user?: User): boolean {
    const { holder, key } = this;
    const wrapper = this.#wrapper;
    if (wrapper === undefined || wrapper.state.user !== user) return false;
    wrapper.state.on = false;
    wrapper.state.user = undefined;
    const property = findProperty(holder, key);
    if (property?.value === wrapper.fn) {
      this.#isIn = !(this.#isInherited
        ? Reflect.deleteProperty(holder, key)
        : Reflect.defineProperty(holder, key, { ...property, value: wrapper.original }));
      return !this.#isIn;
    }
    if (property?.value === wrapper.original) this.#isIn = false;
    return false;
  }

  #replace(property: PropertyDescriptor, original: Fn): Wrapper<Fn, User> | undefined {
    const { holder, key, wrap } = this;
    const isInherited = !Object.hasOwn(holder, key);
    const mayChange = property.configurable === true && property.writable === true;
    if (!isInherited && !mayChange) return undefined;
    const wrapper =
      this.#wrapper?.original === original ? this.#wrapper : wrapperOf(original, wrap);
    if (isClass(original) && !isConstructor(wrapper.fn)) return undefined;
    const attributes = isInherited ? { enumerable: false, configurable: true } : {};
    const replaced = { ...property, ...attributes, value: wrapper.fn };
    if (!Reflect.defineProperty(holder, key, replaced)) return undefined;
    this.#wrapper = wrapper;
    this.#isInherited = isInherited;
    this.#isIn = true;
    return wrapper;
  }
}

function findProperty(holder: object, key: PropertyKey): PropertyDescriptor | undefined {
  for (let each: object | null = holder; each !== null; each = Object.getPrototypeOf(each)) {
    const property = Object.getOwnPropertyDescriptor(each, key);
    if (property !== undefined) return property;
  }
  return undefined;
}

function wrapperOf<Fn extends AnyFunction, User>(
  original: Fn,
  wrap: Wrap<Fn, User>,
): Wrapper<Fn, User> {
  const state: Switch<User> = { on: false, user: undefined };
  const fn = wrap(original, state);
  // `util.promisify.custom`, for one, is found on a function as well.
  for (const key of Reflect.ownKeys(original)) {
    const property = Object.getOwnPropertyDescriptor(original, key);
    if (property !== undefined) Reflect.defineProperty(fn, key, property);
  }
  const prototype = Object.getPrototypeOf(original);
  if (prototype !== Object.getPrototypeOf(fn)) Object.setPrototypeOf(fn, prototype);
  return { original, fn, state };
}

/** Made by `class`, native, or with methods. Any other `function` is seldom called with `new`. */
function isClass(fn: AnyFunction): boolean {
  const prototype = Object.getOwnPropertyDescriptor(fn, 'prototype');
  if (prototype === undefined || typeof prototype.value !== 'object') return false;
  return prototype.writable === false || Reflect.ownKeys(prototype.value ?? {}).length > 1;
}

function isConstructor(fn: AnyFunction): boolean {
  try {
    Reflect.construct(Object, [], fn);
    return true;
  } catch {
    return false;
  }
}
