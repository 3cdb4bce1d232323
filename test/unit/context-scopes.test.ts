import { type Context, type ContextManager, ROOT_CONTEXT } from '@opentelemetry/api';
import { ContextScopes } from '../../src/core/record/hooks/context-scopes.ts';
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
