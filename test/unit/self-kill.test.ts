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
