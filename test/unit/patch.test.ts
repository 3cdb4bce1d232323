/** What everything that replaces a function of somebody else's relies on. */
import { promisify } from 'node:util';
import fc from 'fast-check';
import { type AnyFunction, Patch, type Switch } from '../../src/support/patch.ts';

let seen: unknown[];
beforeEach(() => {
  seen = [];
});

/** A wrapper that is a method, as most are: it says in `seen` whose call it was. */
const noting = (original: AnyFunction, power: Switch) =>
  ({
    wrapper(this: unknown, ...args: unknown[]) {
      if (power.on) seen.push(this);
      return original.apply(this, args);
    },
  }).wrapper;

const propertyOf = (holder: object, key: PropertyKey = 'work') =>
  Object.getOwnPropertyDescriptor(holder, key);

const functions = fc.constantFrom(
  () =>
    function work(this: unknown, a: unknown, _b: unknown) {
      return [this, a];
    },
  () => ({ work: (a: unknown) => a }).work,
  () => ({ async work(this: unknown) {} }).work,
  () => Math.max,
  () => (() => 1).bind(undefined),
);

test('the wrapper has what the original has, and the property its attributes', () => {
  const flags = fc.record({ enumerable: fc.boolean(), configurable: fc.boolean() });
  const extras = fc.dictionary(fc.constantFrom('a', 'name', 'length'), fc.integer());
  fc.assert(
    fc.property(functions, flags, fc.boolean(), extras, (make, flag, writable, more) => {
      const original = make() as AnyFunction;
      const holder = {};
      if (original !== Math.max) {
        for (const [key, value] of Object.entries(more))
          Object.defineProperty(original, key, { value, configurable: true });
        Object.defineProperty(original, promisify.custom, { value: 1, configurable: true });
      }
      Object.defineProperty(holder, 'work', { ...flag, value: original, writable });
      const before = propertyOf(holder) as PropertyDescriptor;

      const patch = new Patch(holder, 'work', noting);
      const mayChange = flag.configurable && writable;
      expect(patch.apply()).toBe(mayChange);
      const after = propertyOf(holder) as PropertyDescriptor;
      expect(after.value === original).toBe(!mayChange);
      expect({ ...after, value: undefined }).toEqual({ ...before, value: undefined });
      expect(Object.getOwnPropertyDescriptors(after.value)).toEqual(
        Object.getOwnPropertyDescriptors(original),
      );
      expect(Object.getPrototypeOf(after.value)).toBe(Object.getPrototypeOf(original));

      patch.putBack();
      expect(propertyOf(holder)).toEqual(before);
    }),
  );
});

test('frozen since: the wrapper stays, and only calls the original', () => {
  const holder = { work: () => 'done' };
  const patch = new Patch(holder, 'work', noting);
  patch.apply();
  Object.freeze(holder);
  expect(patch.putBack()).toBe(false);
  expect(holder.work()).toBe('done');
  expect(seen).toEqual([]);
  expect(patch.apply()).toBe(true);
  holder.work();
  expect(seen).toEqual([holder]);
});

test('a class stays one: without a wrapper that can be called with `new`, it is left alone', () => {
  class Base {
    readonly target: unknown;
    constructor() {
      this.target = new.target;
    }
  }
  const holder = { Base };
  expect(new Patch<AnyFunction>(holder as never, 'Base', noting).apply()).toBe(false);
  expect(holder.Base).toBe(Base);
  const constructing = (original: AnyFunction) =>
    function wrapper(this: unknown, ...args: unknown[]): unknown {
      const target = new.target === (holder.Base as unknown) ? original : new.target;
      return Reflect.construct(original, args, target as never);
    };
  expect(new Patch<AnyFunction>(holder as never, 'Base', constructing).apply()).toBe(true);
  class Derived extends holder.Base {}
  expect(new holder.Base().target).toBe(Base);
  expect(new Derived().target).toBe(Derived);
  expect(new Derived()).toBeInstanceOf(holder.Base);
  expect(new Base()).toBeInstanceOf(holder.Base);
});

test('whatever others do: one wrapper at most works, none once it is put back', () => {
  type Step = 'apply' | 'putBack' | 'wrap' | 'unwrap' | 'overwrite' | 'keep' | 'reuse';
  const steps: Step[] = ['apply', 'putBack', 'wrap', 'unwrap', 'overwrite', 'keep', 'reuse'];
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...steps), { maxLength: 30 }),
      fc.boolean(),
      (list, isOwn) => {
        const prototype = { work: (n: number) => n + 1 };
        const holder = (isOwn ? { ...prototype } : Object.create(prototype)) as typeof prototype;
        const { work: original } = holder;
        const before = propertyOf(holder);
        const patch = new Patch(holder, 'work', noting);
        const theirs: {
          readonly fn: typeof original;
          readonly inner: PropertyDescriptor | undefined;
        }[] = [];
        let kept = original;
        let isOn = false;
        /** What was done by others that does not keep the function which was there. */
        let isLost = false;
        const put = (property: PropertyDescriptor | undefined) => {
          if (property === undefined) Reflect.deleteProperty(holder, 'work');
          else Object.defineProperty(holder, 'work', property);
        };
        const wrap = (called: typeof original) => {
          const fn = function (this: unknown, n: number) {
            return called.call(this, n);
          };
          theirs.push({ fn, inner: propertyOf(holder) });
          holder.work = fn;
        };
        const unwrap = () => {
          const top = theirs.at(-1);
          if (top === undefined || holder.work !== top.fn) return;
          theirs.pop();
          put(top.inner);
        };
        for (const step of list) {
          if (step === 'apply') isOn = patch.apply();
          else if (step === 'wrap') wrap(holder.work);
          else if (step === 'unwrap') unwrap();
          else if (step === 'keep') kept = holder.work;
          else if (step === 'putBack') {
            patch.putBack();
            isOn = false;
          } else {
            isLost = true;
            if (step === 'reuse') wrap(kept);
            else holder.work = original;
          }
          seen = [];
          expect(holder.work(1)).toBe(2);
          expect(seen.length).toBeLessThanOrEqual(isOn ? 1 : 0);
          if (step === 'apply' && !isLost) expect(seen).toEqual([holder]);
        }
        if (isLost) return;
        while (theirs.length > 0) {
          patch.putBack();
          unwrap();
        }
        patch.apply();
        patch.putBack();
        expect(propertyOf(holder)).toEqual(before);
      },
    ),
  );
});
