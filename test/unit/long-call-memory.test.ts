import { Buffer } from 'node:buffer';
import {
  createLongCallMemory,
  LongCallWriter,
  readLongCall,
} from '../../src/sample/long-call-memory.ts';

const memory = createLongCallMemory();
const writer = new LongCallWriter(memory);
const FIRST = { left: 'first', right: 'first' };
const OTHER = { left: 'other', right: 'other' };

afterEach(() => {
  jest.restoreAllMocks();
  writer.leave(0);
});

test('the innermost call that runs, and the one around it afterwards', () => {
  writer.enter(FIRST, 0);
  writer.enter(OTHER, 1);
  expect(readLongCall(memory)).toEqual(OTHER);
  writer.leave(1);
  expect(readLongCall(memory)).toEqual(FIRST);
  writer.leave(0);
  expect(readLongCall(memory)).toBeUndefined();
});

test('facts that are too long are those of no call', () => {
  writer.enter(FIRST, 0);
  writer.enter({ text: 'x'.repeat(1_000_000) }, 1);

  expect(readLongCall(memory)).toBeUndefined();
});

/** Reads; `change` happens after that many bytes of the text are read. */
function readWhile(bytes: number, change: () => void): object | undefined {
  const read = Buffer.prototype.toString;
  jest.spyOn(Buffer.prototype, 'toString').mockImplementationOnce(function (this: Buffer) {
    const before = read.call(this, 'latin1', 0, bytes);
    change();
    return before + read.call(this, 'latin1', bytes);
  });
  return readLongCall(memory);
}

const CHANGES: [string, () => void][] = [
  ['another of the same length begins inside it', () => writer.enter(OTHER, 1)],
  ['another of the same length comes after it', () => writer.enter(OTHER, 0)],
  ['it ends', () => writer.leave(0)],
];

test.each(CHANGES)('half of a call is never read: %s', (_, change) => {
  const length = JSON.stringify(FIRST).length;
  for (let bytes = 0; bytes <= length; bytes++) {
    writer.enter(FIRST, 0);

    expect(readWhile(bytes, change)).toBeUndefined();
  }
});

test.each(CHANGES)('a call is read between two steps of a change: %s', (_, change) => {
  const wholeOrNothing = [JSON.stringify(FIRST), JSON.stringify(OTHER), undefined];
  for (const name of ['add', 'store'] as const) {
    const original = Atomics[name];
    writer.enter(FIRST, 0);
    const seen: (string | undefined)[] = [];
    jest.spyOn(Atomics, name).mockImplementation(((...args: [Int32Array, number, number]) => {
      seen.push(JSON.stringify(readLongCall(memory)));
      const result = original(...args);
      seen.push(JSON.stringify(readLongCall(memory)));
      return result;
    }) as typeof original);
    change();
    jest.restoreAllMocks();
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.filter((text) => !wholeOrNothing.includes(text))).toEqual([]);
  }
});
