import { perThread } from '../../src/support/copies.ts';
import { PACKAGE_NAME } from '../../src/version.ts';

const nameOf = (name: string) => `copies.test ${name}`;

test('is made once', () => {
  const create = jest.fn(() => ({}));
  const first = perThread(nameOf('once'), create);
  expect(perThread(nameOf('once'), create)).toBe(first);
  expect(create).toHaveBeenCalledTimes(1);
});

test('another copy of the package gets the same object', () => {
  const first = perThread(nameOf('copies'), () => ({}));
  let second: unknown;
  jest.isolateModules(() => {
    const copy = require('../../src/support/copies.ts') as { perThread: typeof perThread };
    expect(copy.perThread).not.toBe(perThread);
    second = copy.perThread(nameOf('copies'), () => ({}));
  });
  expect(second).toBe(first);
});

test('if nothing can be put on globalThis, this copy of the package has one', () => {
  jest.spyOn(Object, 'defineProperty').mockImplementation(() => {
    throw new TypeError('Cannot define property, object is not extensible');
  });
  const first = perThread(nameOf('frozen'), () => ({}));
  const second = perThread(nameOf('frozen'), () => ({}));
  jest.restoreAllMocks();
  expect(Symbol.for(`${PACKAGE_NAME}.${nameOf('frozen')}`) in globalThis).toBe(false);
  expect(second).toBe(first);
});
