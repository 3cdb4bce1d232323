import { constants } from 'node:os';
import { leaveSelfKill, listenToSelfKill } from '../../src/sample/self-kill.ts';

type Kill = (pid: number, signal: number) => unknown;
/** `process.kill` of jest calls that of the real `process`. */
const killer = process as unknown as { _kill: Kill };
/** Does nothing to a process that is not stopped. */
const { SIGCONT, SIGUSR2 } = constants.signals;

const calls: string[] = [];
const listener = () => {
  calls.push('killing');
  return () => void calls.push('survived');
};
const original = killer._kill;

beforeEach(() => {
  calls.length = 0;
  killer._kill = (pid, signal) => calls.push(`${pid} ${signal}`);
});
afterEach(() => {
  leaveSelfKill(listener);
  killer._kill = original;
});

test.each([
  ['itself', process.pid],
  ['its group', -process.pid],
  ['its group, as 0', 0],
  ['all processes', -1],
])('told before and after a signal to %s', (_whom, pid) => {
  listenToSelfKill(listener);
  expect(killer._kill(pid, SIGCONT)).toBe(2);
  expect(calls).toEqual(['killing', `${pid} ${SIGCONT}`, 'survived']);
});

test.each([
  ['a signal to another process', process.ppid, SIGCONT],
  ['the question whether the process exists', process.pid, 0],
])('not told of %s', (_what, pid, signal) => {
  listenToSelfKill(listener);
  killer._kill(pid, signal);
  expect(calls).toEqual([`${pid} ${signal}`]);
});

test('not told of a signal with a listener', () => {
  const handle = () => {};
  process.on('SIGUSR2', handle);
  listenToSelfKill(listener);
  killer._kill(process.pid, SIGUSR2);
  process.off('SIGUSR2', handle);
  expect(calls).toEqual([`${process.pid} ${SIGUSR2}`]);
});

test('told of it when the signal cannot be sent', () => {
  killer._kill = () => {
    throw new Error('EPERM');
  };
  listenToSelfKill(listener);
  expect(() => killer._kill(process.pid, SIGCONT)).toThrow('EPERM');
  expect(calls).toEqual(['killing', 'survived']);
});

test('if it cannot be replaced, it stays', () => {
  const before = killer._kill;
  Object.defineProperty(process, '_kill', { value: before, writable: false, configurable: true });
  try {
    listenToSelfKill(listener);
    expect(killer._kill).toBe(before);
  } finally {
    Object.defineProperty(process, '_kill', { value: before, writable: true, configurable: true });
  }
});
