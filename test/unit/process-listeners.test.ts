import { listen, listenAgain, unlisten } from '../../src/support/process-listeners.ts';

const EVENT = 'event of process-listeners.test';
const listener = () => {};
const before = process.getMaxListeners();
afterEach(() => {
  unlisten(EVENT, listener);
  process.removeAllListeners(EVENT);
  process.setMaxListeners(before);
});

test('the maximum that the application sets meanwhile stays', () => {
  listen(EVENT, listener);
  expect(process.getMaxListeners()).toBe(before + 1);
  process.setMaxListeners(3);
  unlisten(EVENT, listener);
  expect(process.getMaxListeners()).toBe(3);
});

test('after all listeners were removed it listens again, once, although others hide it', () => {
  listen(EVENT, listener);
  process.removeAllListeners(EVENT);
  const hiding = jest.spyOn(process, 'listeners').mockReturnValue([]);
  listenAgain();
  listenAgain();
  hiding.mockRestore();
  expect(process.listeners(EVENT as 'exit')).toEqual([listener]);
});

test('a `process.on` that throws does not reach the host', () => {
  listen(EVENT, listener);
  process.removeAllListeners(EVENT);
  const throwing = jest.spyOn(process, 'on').mockImplementation(() => {
    throw new Error('theirs');
  });
  expect(listenAgain).not.toThrow();
  throwing.mockRestore();
});
