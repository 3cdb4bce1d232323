import { MainThreadState } from '../../../src/profile/moments.ts';

/** The system call of the main thread, as Linux has it. */
function stateOf(...texts: string[]) {
  return new MainThreadState(0, () => ({ read: () => texts.shift() ?? '', close() {} }));
}

test('the loop waits in the system call that was learned, and in no other', () => {
  const state = stateOf(
    '281 0xe 0x7ff1 0x400',
    '281 0xe 0x7ff2 0x300',
    '281 0x16 0x7ff2',
    'running',
    '202 0xe 0x1',
    '281 0xe 0x7ff9',
  );
  expect(state.isWaiting()).toBe(false);
  state.learn();
  expect([1, 2, 3, 4, 5].map(() => state.isWaiting())).toEqual([true, false, false, false, true]);
});

test('nothing is learned if the thread runs, or if the system does not say', () => {
  const state = stateOf('running\n', '', 'running\n');
  for (let i = 0; i < 3; i++) {
    expect(state.isWaiting()).toBe(false);
    state.learn();
  }
  const unreadable = new MainThreadState(0, () => {
    throw new Error('EACCES');
  });
  expect(unreadable.isWaiting()).toBe(false);
});

test('of a worker thread nothing is read: the file is that of the main thread', () => {
  const open = jest.fn(() => ({ read: () => '281 0xe 0x7ff1', close() {} }));
  const state = new MainThreadState(3, open);
  expect(state.isWaiting()).toBe(false);
  state.learn();
  expect(state.isWaiting()).toBe(false);
  expect(open).not.toHaveBeenCalled();
});
