import { perThread } from '../../src/support/per-thread.ts';

const keyOf = (name: string) => Symbol.for(`per-thread.test ${name}`);

test('is made once', () => {
  const create = jest.fn(() => ({}));
  const first = perThread(keyOf('once'), create);
  expect(perThread(keyOf('once'), create)).toBe(first);
  expect(create).toHaveBeenCalledTimes(1);
});

test('another copy of the package gets the same object', () => {
  const first = perThread(keyOf('copies'), () => ({}));
  let second: unknown;
  jest.isolateModules(() => {
    const copy = require('../../src/support/per-thread.ts') as { perThread: typeof perThread };
    expect(copy.perThread).not.toBe(perThread);
    second = copy.perThread(keyOf('copies'), () => ({}));
  });
  expect(second).toBe(first);
});

test('if nothing can be put on globalThis, this copy of the package has one', () => {
  jest.spyOn(Object, 'defineProperty').mockImplementation(() => {
    throw new TypeError('Cannot define property, object is not extensible');
  });
  const first = perThread(keyOf('frozen'), () => ({}));
  const second = perThread(keyOf('frozen'), () => ({}));
  jest.restoreAllMocks();
  expect(keyOf('frozen') in globalThis).toBe(false);
  expect(second).toBe(first);
});
