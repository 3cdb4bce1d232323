import fs from 'node:fs';

let time = 0;
jest.mock('../../src/support/time.ts', () => ({
  now: () => time,
  wait: (_cell: Int32Array, _index: number, _value: number, millis: number) => {
    time += millis;
  },
}));

import { writeLines } from '../../src/support/stderr.ts';

const FULL = Object.assign(new Error('full'), { code: 'EAGAIN' });
const written = jest.spyOn(fs, 'writeSync');
/** A pipe that has room for this number of bytes from this time on. */
function pipe(room: number, from = 0) {
  let left = room;
  written.mockImplementation((_fd, bytes, offset) => {
    if (time < from || left === 0) throw FULL;
    const taken = Math.min(left, (bytes as unknown as Buffer).length - Number(offset));
    left -= taken;
    return taken;
  });
}
/** For how long it waits. */
function millisOf(mayWait = false) {
  const before = time;
  writeLines(() => ['line'], mayWait);
  return time - before;
}

beforeEach(() => {
  time = 0;
  pipe(Number.POSITIVE_INFINITY);
  millisOf();
  written.mockClear();
});
afterAll(() => written.mockRestore());

test('one write to the file descriptor, if there is room', () => {
  expect(millisOf()).toBe(0);
  expect(written.mock.calls).toEqual([[2, Buffer.from('line\n'), 0]]);
});

test('a full pipe is waited for once until it has room, at the end in any case', () => {
  pipe(0);
  expect([millisOf(), millisOf(), millisOf(true), millisOf()]).toEqual([20, 0, 200, 0]);
  pipe(10);
  expect(millisOf()).toBe(0);
  pipe(0);
  expect(millisOf()).toBe(20);
});

test('what the reader makes room for in time is written', () => {
  pipe(10, 10);
  expect(millisOf()).toBe(10);
  expect(written.mock.results.at(-1)).toEqual({ type: 'return', value: 5 });
});

test('no end of waiting is needed if stderr is closed, or its writer takes nothing', () => {
  written.mockImplementation(() => {
    throw Object.assign(new Error('closed'), { code: 'EPIPE' });
  });
  expect(millisOf(true)).toBe(0);
  written.mockImplementation(() => 0);
  expect(millisOf()).toBe(20);
});
