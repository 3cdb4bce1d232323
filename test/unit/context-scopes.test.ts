import { type Context, type ContextManager, ROOT_CONTEXT } from '@opentelemetry/api';
import { ContextScopes } from '../../src/detect/hooks/context-scopes.ts';
import type { Faults } from '../../src/otel/diag-once.ts';
import { contextOf, FakeLoop, summary } from './support/fake-loop.ts';

class Manager implements ContextManager {
  calls: unknown[][] = [];
  active() {
    return ROOT_CONTEXT;
  }
  with(context: Context, fn: (...args: never[]) => unknown, thisArg?: unknown, ...args: unknown[]) {
    this.calls.push([context, thisArg, ...args]);
    return fn.apply(thisArg, args as never[]) as never;
  }
  bind<T>(_context: Context, target: T) {
    return target;
  }
  enable() {
    return this;
  }
  disable() {
    return this;
  }
}

function setUp() {
  const loop = new FakeLoop(100).primed();
  const faults: Faults = {};
  const scopes = new ContextScopes(loop.ledger, loop.clock, faults);
  const block = (manager: ContextManager, millis = 150) =>
    loop.callback(() => manager.with(contextOf('S'), () => loop.clock.run(millis)));
  return { loop, scopes, faults, block };
}

test('a scope is timed, and everything passes through', () => {
  const { loop, scopes } = setUp();
  const manager = new Manager();
  scopes.watch(manager);
  const self = {};
  const context = contextOf('S');
  let got: unknown[] = [];
  const result = manager.with(
    context,
    function (this: unknown, ...args: unknown[]) {
      got = [this, ...args];
      loop.clock.run(150);
      return 42;
    } as never,
    self,
    ...([1, 2] as never[]),
  );
  expect(result).toBe(42);
  expect(got).toEqual([self, 1, 2]);
  expect(manager.calls).toEqual([[context, self, 1, 2]]);
  manager.with(context, () => undefined as never);
  expect(loop.blocks.map(summary)).toMatchObject([{ kind: 'callback', length: 150, context: 'S' }]);
});

test('what the function throws goes on, and is timed', () => {
  const { loop, scopes } = setUp();
  const manager = new Manager();
  scopes.watch(manager);
  const error = new Error('theirs');
  expect(() =>
    manager.with(ROOT_CONTEXT, () => {
      loop.clock.run(150);
      throw error;
    }),
  ).toThrow(error);
  expect(loop.blocks).toHaveLength(1);
});

test('the manager is replaced', () => {
  const { loop, scopes, block } = setUp();
  const [first, second] = [new Manager(), new Manager()];
  scopes.watch(first);
  scopes.watch(second);
  expect(Object.hasOwn(first, 'with')).toBe(false);
  block(second);
  expect(loop.blocks.map(summary)).toMatchObject([{ context: 'S' }]);
});

test('another package has wrapped our wrapper: theirs stays, ours passes through, and comes back without another layer', () => {
  const { loop, scopes, block } = setUp();
  const manager = new Manager();
  scopes.watch(manager);
  const ours = manager.with;
  let theirs = 0;
  const wrapper = function (this: Manager, ...args: Parameters<Manager['with']>) {
    theirs++;
    return ours.apply(this, args);
  };
  manager.with = wrapper as never;

  scopes.release();
  expect(manager.with).toBe(wrapper);
  block(manager);
  // The callback is timed, the scope in it is not.
  expect(loop.blocks.map(summary)).toMatchObject([{ length: 150, context: undefined }]);

  scopes.watch(manager);
  expect(manager.with).toBe(wrapper);
  block(manager);
  expect(loop.blocks.map(summary).slice(1)).toMatchObject([{ length: 150, context: 'S' }]);
  expect(theirs).toBe(2);
});

test('a frozen manager is left alone', () => {
  const { scopes, faults } = setUp();
  const manager = Object.freeze(new Manager());
  scopes.watch(manager);
  scopes.release();
  expect(faults.inHook).toBeInstanceOf(TypeError);
});

test('a bug in the ledger does not reach the host', () => {
  const { loop, scopes, faults } = setUp();
  const manager = new Manager();
  scopes.watch(manager);
  const error = new Error('ours');
  jest.spyOn(loop.ledger, 'scope').mockImplementation(() => {
    throw error;
  });
  expect(manager.with(ROOT_CONTEXT, () => 1 as never)).toBe(1);
  expect(faults).toEqual({ inHook: error });
});
