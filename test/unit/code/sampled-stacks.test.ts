import type { StackFrame, WeightedSample } from '../../../src/block.ts';
import { pprofOf } from '../../../src/code/pprof.ts';
import { foldedStacks, sampledStacks } from '../../../src/code/sampled-stacks.ts';

const frame = (functionName: string, line: number, more: Partial<StackFrame> = {}): StackFrame => ({
  functionName,
  file: '/app/list.js',
  line,
  column: 3,
  functionLine: 1,
  functionColumn: 1,
  isAsync: false,
  isOwn: false,
  isAtEntry: false,
  isEvaluated: false,
  isBuiltin: false,
  text: functionName,
  ...more,
});

const sample = (
  weight: number,
  frames: StackFrame[],
  more: Partial<WeightedSample> = {},
): WeightedSample => ({
  requestedAt: 100,
  time: 100,
  context: undefined as never,
  resourceType: undefined,
  frames,
  weight,
  ...more,
});

const MAIN = frame('main', 3);
const SAMPLES = [
  sample(40, [frame('render', 7), MAIN]),
  sample(60.4, [frame('load', 9), MAIN], { nativeCall: { name: 'JSON.parse', size: 5 } }),
  sample(100, [frame('render', 7), MAIN]),
];

test('folded: outermost first, the heaviest first, as many as fit', () => {
  const stacks = sampledStacks(SAMPLES);
  expect(foldedStacks(stacks, 1000).split('\n')).toEqual([
    'main (/app/list.js:3);render (/app/list.js:7) 140',
    'main (/app/list.js:3);load (/app/list.js:9);JSON.parse 60',
  ]);
  expect(foldedStacks(stacks, 60)).toBe('main (/app/list.js:3);render (/app/list.js:7) 140');
});

test('nothing in a name ends a frame or a line', () => {
  const stacks = sampledStacks([sample(5, [frame('a;b\nc', 7)])]);
  expect(foldedStacks(stacks, 1000)).toBe('a,b c (/app/list.js:7) 5');
});

test('the time of native code is its caller’s, not of what was called next', () => {
  const late = { requestedAt: 100, time: 200 };
  const stacks = sampledStacks([
    sample(100, [frame('next', 20, { isAtEntry: true }), MAIN], late),
    sample(10, [frame('own', 1, { isOwn: true })]),
  ]);
  expect(foldedStacks(stacks, 1000)).toBe('main (/app/list.js:3) 100');
});

/** Fields of a message: numbers, and bytes. */
function decode(bytes: Uint8Array): [field: number, value: number | Uint8Array][] {
  const fields: [number, number | Uint8Array][] = [];
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[at++] as number;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const key = varint();
    const length = varint();
    if (key % 8 === 0) fields.push([key >> 3, length]);
    else {
      fields.push([key >> 3, bytes.subarray(at, at + length)]);
      at += length;
    }
  }
  return fields;
}

test('a profile of pprof: innermost first, with functions, lines, counts and times', () => {
  const fields = decode(pprofOf(sampledStacks(SAMPLES), 1_795_000_000_123, 200));
  const all = (field: number) =>
    fields.filter(([f]) => f === field).map(([, value]) => value as Uint8Array);
  const strings = all(6).map((bytes) => Buffer.from(bytes).toString());
  expect(strings[0]).toBe('');
  const record = (bytes: Uint8Array) => new Map(decode(bytes));
  const types = all(1).map((bytes) => [...record(bytes).values()].map((n) => strings[Number(n)]));
  expect(types).toEqual([
    ['samples', 'count'],
    ['wall', 'nanoseconds'],
  ]);
  const functions = new Map(
    all(5).map((b) => [record(b).get(1), strings[Number(record(b).get(2))]]),
  );
  const locations = new Map(
    all(4).map((bytes) => {
      const location = record(bytes);
      const line = record(location.get(4) as Uint8Array);
      return [location.get(1), `${functions.get(line.get(1))}:${line.get(2)}`];
    }),
  );
  const numbersIn = (bytes: Uint8Array) => {
    const values: number[] = [];
    let value = 0;
    let factor = 1;
    for (const byte of bytes) {
      value += (byte & 0x7f) * factor;
      factor *= 128;
      if (byte >= 0x80) continue;
      values.push(value);
      value = 0;
      factor = 1;
    }
    return values;
  };
  const samples = all(2).map((bytes) => {
    const found = record(bytes);
    return {
      stack: numbersIn(found.get(1) as Uint8Array).map((id) => locations.get(id)),
      values: numbersIn(found.get(2) as Uint8Array),
    };
  });
  expect(samples).toEqual([
    { stack: ['render:7', 'main:3'], values: [1, 40e6] },
    { stack: ['JSON.parse:0', 'load:9', 'main:3'], values: [1, 60.4e6] },
    { stack: ['render:7', 'main:3'], values: [1, 100e6] },
  ]);
  expect(fields.find(([field]) => field === 9)?.[1]).toBe(1_795_000_000_123e6);
});
