import { Session } from 'node:inspector/promises';
import type { StackFrame, WeightedSample } from '../../../src/block.ts';
import { cpuProfileOf } from '../../../src/core/explain/name/cpu-profile.ts';
import { createOriginOf } from '../../../src/core/explain/name/in-app.ts';
import { sampledStacks as stacksOf } from '../../../src/core/explain/name/sampled-stacks.ts';

const sampledStacks = (samples: WeightedSample[]) => stacksOf(samples, createOriginOf());

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

test('the time of native code is its caller’s, not of what was called next', () => {
  const late = { requestedAt: 100, time: 200 };
  const stacks = sampledStacks([
    sample(100, [frame('next', 20, { isAtEntry: true }), MAIN], late),
    sample(10, [frame('own', 1, { isOwn: true })]),
  ]);
  expect(stacks.map(({ frames, millis }) => [frames.map(({ name }) => name), millis])).toEqual([
    [['main'], 100],
  ]);
});

describe('a CPU profile', () => {
  const START = 1_795_000_000_123;
  /** What a tool reads from the file. */
  const profile = JSON.parse(JSON.stringify(cpuProfileOf(sampledStacks(SAMPLES), START, 250)));
  const nodes = new Map<number, Node>(profile.nodes.map((node: Node) => [node.id, node]));

  interface Node {
    id: number;
    callFrame: { functionName: string; url: string; lineNumber: number };
    children: number[];
    hitCount: number;
    positionTicks: unknown[];
  }

  function stackOf(id: number): string[] {
    const node = nodes.get(id) as Node;
    const parent = [...nodes.values()].find(({ children }) => children.includes(id));
    return [node.callFrame.functionName, ...(parent ? stackOf(parent.id) : [])];
  }

  test('each sample is a stack that lasts until the next one', () => {
    const ends = profile.timeDeltas.slice(1);
    expect(profile.samples.map((id: number, i: number) => [stackOf(id), ends[i]])).toEqual([
      [['render', 'main', '(root)'], 40_000],
      [['JSON.parse', 'load', 'main', '(root)'], 60_400],
      [['render', 'main', '(root)'], 100_000],
      [['(root)'], undefined],
    ]);
    expect(profile.timeDeltas[0]).toBe(0);
    expect(profile).toMatchObject({
      startTime: START * 1000,
      endTime: START * 1000 + 250_000,
    });
  });

  test('a function has its file, where it starts, and the lines that ran', () => {
    const render = [...nodes.values()].find((each) => each.callFrame.functionName === 'render');
    expect(render).toMatchObject({
      callFrame: { url: expect.stringMatching(/^file:\/\/.*\/app\/list\.js$/), lineNumber: 0 },
      hitCount: 2,
      positionTicks: [{ line: 7, ticks: 2 }],
    });
  });

  test('it has the fields and types that V8 gives a profile', async () => {
    const session = new Session();
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.start');
    const until = performance.now() + 30;
    while (performance.now() < until) Math.sqrt(until);
    const { profile: byV8 } = await session.post('Profiler.stop');
    session.disconnect();
    expect(shapeOf(profile)).toEqual(shapeOf(byV8));
  });

  /** Its fields with their types; of the elements of a list, all fields that one of them has. */
  function shapeOf(value: unknown): unknown {
    if (Array.isArray(value)) {
      const shapes = value.map(shapeOf);
      return typeof value[0] === 'object' ? [Object.assign({}, ...shapes)] : [...new Set(shapes)];
    }
    if (typeof value !== 'object' || value === null) return typeof value;
    const fields = Object.entries(value).filter(([, of]) => !Array.isArray(of) || of.length > 0);
    return Object.fromEntries(fields.map(([name, of]) => [name, shapeOf(of)]));
  }
});
