import fc from 'fast-check';
import type { StackFrame } from '../../../src/block.ts';
import { causeOfBlock } from '../../../src/core/explain/name/cause.ts';
import { describeCode } from '../../../src/core/explain/name/describe-code.ts';
import { createOriginOf } from '../../../src/core/explain/name/in-app.ts';
import type { TimedSample } from '../../../src/core/explain/name/weights.ts';
import { awaiting, builtin, entered, frame, own, prompt, sample } from './support/stacks.ts';

// The paths in here are those of POSIX, wherever the tests run.
jest.mock('node:path', () => jest.requireActual<typeof import('node:path')>('node:path').posix);

const options = { originOf: createOriginOf(), cwd: '/app' };
const describeOf = (end: number, ...samples: TimedSample[]) =>
  describeCode(samples, 0, end, options);

const app = (name: string, line?: number, begins?: number) =>
  frame(name, '/app/src/a.js', line, begins === undefined ? {} : { begins });
const lib = (name: string, line?: number) => frame(name, '/app/node_modules/lib/index.js', line);
const packaged = (name: string, file: string) => frame(name, `/app/node_modules/${file}`);
const node = (name: string, file = 'node:internal/timers') => frame(name, file);

describe('what is known without a stack', () => {
  test('nothing', () => expect(describeOf(100)).toEqual({ samples: 0 }));

  test('whether JavaScript called what ran in that time', () => {
    const isOutsideJavaScript = true;
    const native = sample(40, 100);
    expect(describeOf(100, native)).toMatchObject({ isOutsideJavaScript });
    expect(describeOf(200, native, prompt(150, app('next')))).toMatchObject({
      isOutsideJavaScript,
    });
    for (const samples of [[prompt(60)], [native, sample(140, 180, app('a'))], [sample(40, 300)]]) {
      expect(describeOf(200, ...samples)).not.toHaveProperty('isOutsideJavaScript');
    }
  });

  test('how much of that was garbage collection', () => {
    const gcWithin = (from: number, until: number) => (until - from) / 4;
    const samples = [prompt(60, app('a')), sample(100, 180, app('a'))];
    expect(describeCode(samples, 0, 180, { ...options, gcWithin })).toMatchObject({
      nativeTimeMillis: 100,
      gcInNativeTimeMillis: 25,
    });
    const unknown = describeCode(samples, 0, 180, { ...options, gcWithin: () => Number.NaN });
    expect(unknown).not.toHaveProperty('gcInNativeTimeMillis');
  });
});

test('one function', () => {
  expect(describeOf(120, prompt(60, app('hash', 33)), prompt(100, app('hash', 33)))).toEqual({
    samples: 2,
    nativeTimeMillis: 0,
    code: {
      functionName: 'hash',
      file: '/app/src/a.js',
      line: 33,
      column: 5,
      functionLine: 1,
      functionColumn: 1,
      stackTrace: '    at hash (/app/src/a.js:33:5)',
    },
  });
});

describe('the dominant path', () => {
  test('that has less than a quarter of the block is nobody, but for what had no CPU', () => {
    const late = [sample(10, 390), prompt(395, app('a')), prompt(400, app('a'))];
    expect(describeOf(440, ...late)).not.toHaveProperty('code');
    const starved = describeCode(late, 0, 440, { ...options, lackedCpuMillis: 300 });
    expect(starved.code?.functionName).toBe('a');
  });

  test('that has less than a quarter of the block is nobody', () => {
    const many = ['a', 'b', 'c', 'd', 'e'].map((name, i) => prompt(20 + 40 * i, app(name, i + 1)));
    const { code, topFunctions } = describeOf(200, ...many);
    expect(code).toBeUndefined();
    expect(topFunctions).toHaveLength(5);
  });

  test('of a package that has half of it is its heaviest', () => {
    const at = (name: string, i: number) => prompt(20 + 40 * i, lib(name));
    const { code } = describeOf(200, at('a', 0), at('b', 1), at('c', 2), at('d', 3), at('e', 4));
    expect(code).toMatchObject({ functionName: 'a' });
  });

  test('of which less than half is the application goes on to the heaviest package', () => {
    const layer = packaged('handle', 'express/layer.js');
    const { code } = describeOf(
      300,
      prompt(50, lib('query'), layer),
      prompt(160, packaged('parse', 'other/b.js'), layer),
      prompt(250, app('a', 12, 10), layer),
      prompt(299, packaged('format', 'third/c.js'), layer),
    );
    expect(code).toMatchObject({ functionName: 'query' });
  });

  test('of packages only is named above the dispatcher, if nothing is below it', () => {
    const stack = [packaged('next', 'express/layer.js'), packaged('limit', 'limiter/index.js')];
    const { code } = describeOf(200, prompt(60, ...stack), prompt(150, ...stack));
    expect(code?.functionName).toBe('limit');
  });
});

describe('many callers', () => {
  const at = (i: number, ...frames: StackFrame[]) => prompt(20 + 40 * i, ...frames);

  test('of one function of the application: it is named, from its line on', () => {
    const callers = ['a', 'b', 'c', 'd', 'e'].map((name, i) =>
      at(i, ...(i < 3 ? [app('map', 7, 3)] : []), app(name, i + 30, i + 20)),
    );
    expect(describeOf(200, ...callers).code).toMatchObject({ functionName: 'map', line: 7 });
  });

  test('of one that loads modules: not what one of its samples has seen', () => {
    const boot = app('boot', 90, 80);
    const init = (line: number) => app('init', line, 40);
    const { code } = describeOf(
      180,
      prompt(50, app('rows', 5, 1), init(49), boot),
      prompt(97, app('members', 4, 1), init(61)),
      prompt(162, app('keys', 7, 1)),
    );
    expect(code).toMatchObject({ functionName: 'init' });
  });

  test('of packages: the outermost function that most of the block has on its stack', () => {
    const stacks = ['a', 'b', 'c', 'd', 'e'].map((name, i) => {
      const inner = i < 3 ? [lib('escape', 4), lib('render', 9)] : [];
      return at(i, ...inner, packaged(name, `p${i}/index.js`));
    });
    expect(describeOf(200, ...stacks).code).toMatchObject({ functionName: 'render', line: 9 });
  });
});

describe('after a native call that nothing on the stack has made', () => {
  const next = [entered('then', '/app/node_modules/fastify/then.js')];
  const step = packaged('runNext', 'fastify/hooks.js');

  test('the next step of a framework or an agent is not named', () => {
    expect(describeOf(120, sample(20, 115, ...next, step)).code).toBeUndefined();
    const agent = packaged('onEnding', '@opentelemetry/sdk-trace/index.js');
    expect(describeOf(120, sample(20, 115, ...next, agent)).code).toBeUndefined();
    // A collection does not take long, and the step has most likely run before.
    const short = [sample(20, 24, ...next, step), prompt(60, step), prompt(90, step)];
    expect(describeOf(120, ...short).code).toMatchObject({ functionName: 'runNext' });
  });

  test('nor what has a fraction of the block, if what ran before is not known', () => {
    const parse = { ...sample(4, 90, node('parse', 'node:internal/a')) };
    const code = [prompt(95, node('end', 'node:net'), app('answer'))];
    expect(describeOf(100, parse, ...code).code).toBeUndefined();
    expect(describeOf(200, parse, prompt(150, app('answer'))).code).toMatchObject({
      functionName: 'answer',
    });
  });

  test('what the step had called before is named', () => {
    const seen = prompt(10, app('draw', 12), step);
    const late = sample(20, 115, ...next, step);
    expect(describeOf(120, seen, late).code).toMatchObject({ functionName: 'draw', line: 12 });
    const other = prompt(10, app('draw', 12), packaged('other', 'fastify/hooks.js'));
    expect(describeOf(120, other, late).code).toBeUndefined();
  });
});

describe('loading modules names the function that requires, and the module', () => {
  const loader: StackFrame[] = [
    frame('', 'node:internal/modules/cjs/loader', 10, { text: 'Module._compile (node:…)' }),
    packaged('patchedRequire', 'require-in-the-middle/index.js'),
    node('require', 'node:internal/modules/helpers'),
  ];
  const index = (line: number) => frame('', '/app/node_modules/big/index.js', line);

  test('through all that the package requires in turn', () => {
    const { code } = describeOf(
      180,
      prompt(60, ...loader.slice(1), index(3), ...loader, app('handler', 33)),
      prompt(
        100,
        frame('', '/app/node_modules/big/lib/a.js', 9),
        ...loader,
        index(4),
        ...loader,
        app('handler', 33),
      ),
      prompt(160, ...loader, app('handler', 33)),
    );
    expect(code).toMatchObject({
      functionName: 'handler',
      line: 33,
      requires: '/app/node_modules/big/index.js',
    });
  });

  test('not if it took less than half of the time, and not if it is not known', () => {
    const some = describeOf(
      300,
      prompt(60, index(3), ...loader, app('handler', 33)),
      prompt(100, app('handler', 34)),
      prompt(200, app('handler', 34)),
    );
    expect(some.code).not.toHaveProperty('requires');
    const unknown = describeOf(120, prompt(60, ...loader, app('handler', 33)));
    expect(unknown.code?.functionName).toBe('handler');
    expect(unknown.code).not.toHaveProperty('requires');
  });
});

describe('an agent', () => {
  const AGENT = '@opentelemetry/instrumentation-graphql/build/src/utils.js';
  const wrapper = packaged('patchedExecute', AGENT);
  const resolve = [lib('executeField'), wrapper, app('answer', 33)];
  const source = frame('getSourceFromLocation', `/app/node_modules/${AGENT}`, 160);
  const names = ({ topFunctions }: ReturnType<typeof describeOf>) =>
    topFunctions?.map(({ functionName }) => functionName);

  describe('that sets a context', () => {
    const STORAGE = 'node:internal/async_local_storage/async_context_frame';
    const MANAGER = '@opentelemetry/context-async-hooks/build/src/ALSContextManager.js';
    const run = node('AsyncLocalStorage.run', STORAGE);
    const within = [run, packaged('with', MANAGER), ...resolve];
    const named = (...innermost: StackFrame[]) =>
      describeOf(
        400,
        ...[60, 160, 260].map((at) => prompt(at, ...innermost, ...within)),
        prompt(360, lib('executeField'), ...resolve),
      ).code?.functionName;

    test('is not for what else Node.js does: it wraps a call of the application', () => {
      const read = [
        entered('validateInteger', 'node:internal/validators'),
        node('read', 'node:fs'),
      ];
      expect(named(...read, wrapper, source)).toBe('answer');
      expect(named(entered('read', 'node:fs'), wrapper, source)).toBe('answer');
    });
  });

  describe('whose functions call each other in turn', () => {
    const start = packaged('startSpan', '@opentelemetry/sdk-trace/build/src/Tracer.js');
    const get = entered('get', '/app/node_modules/@opentelemetry/core/build/src/index.js');

    test('is not named by what came late', () => {
      const stack = [get, start, ...resolve.slice(1)];
      const described = describeOf(400, sample(60, 160, ...stack), sample(200, 390, ...stack));
      expect(described.code?.functionName).toBe('answer');
    });
  });

  test('is not among the functions that ran, if it is this package: users have no such function', () => {
    const call = [builtin('ArrayBuffer.isView'), own('sizeOf'), own('wrapper')];
    const ofTwo = describeOf(200, prompt(150, ...call, ...resolve), prompt(180, app('other', 5)));
    expect(ofTwo.code?.functionName).toBe('answer');
    expect(ofTwo.leaf?.functionName).toBe('executeField');

    const described = describeOf(
      400,
      prompt(60, ...call, ...resolve),
      ...[160, 260, 360].map((at) => prompt(at, lib('executeField'), ...resolve)),
    );
    expect(described.code?.functionName).toBe('answer');
    expect(names(described)).toEqual(['executeField']);
  });
});

describe('a regular expression', () => {
  const check = [builtin('RegExp.test'), app('check', 7)];

  test('is not what ran before a sample that came late', () => {
    expect(describeOf(400, sample(60, 350, ...check)).nativeCall).toBeUndefined();
    expect(describeOf(400, sample(60, 130, ...check)).nativeCall?.name).toBe('RegExp#test');
  });
});

test('a message is deserialized before Node.js calls who listens', () => {
  const [port, child] = ['per_context/messageport', 'child_process'].map((file) =>
    entered('', `node:internal/${file}`),
  ) as [StackFrame, StackFrame];
  for (const frames of [[port], [child, node('onread', 'node:internal/child_process')]]) {
    const message = describeOf(120, sample(20, 80, ...frames), prompt(100, app('take', 5)));
    expect(message).toMatchObject({ isMessage: true, code: { functionName: 'take' } });
    expect(causeOfBlock({ start: 0, end: 120, cpu: 118 }, message)).toBe('message');
    // Most of it is what the listener does.
    const short = describeOf(120, sample(20, 30, ...frames), prompt(100, app('take', 5)));
    expect(short).not.toHaveProperty('isMessage');
  }
  expect(describeOf(120, sample(20, 90, child, app('start')))).not.toHaveProperty('isMessage');
});

test('to replace a text by a text is no regular expression', () => {
  const samples = [60, 90].map((time) => prompt(time, builtin('String.replaceAll'), app('check')));
  expect(describeOf(120, ...samples).nativeCall).toBeUndefined();
});

describe('a WebAssembly module', () => {
  const wasm = frame('', 'wasm://wasm/e8f224ae', 1, {
    text: 'wasm://wasm/e8f224ae:wasm-function[12]:0x34',
  });

  test('is a dependency: its caller is named, and it is what ran', () => {
    const stack = [wasm, wasm, app('report', 33)];
    const described = describeOf(200, ...[60, 120, 180].map((at) => prompt(at, ...stack)));
    expect(described).toMatchObject({
      code: { functionName: 'report', line: 33 },
      leaf: { functionName: 'wasm-function[12]', file: 'wasm://wasm/e8f224ae' },
      topFunctions: [{ functionName: 'wasm-function[12]', share: 1 }],
      nativeCall: { name: 'WebAssembly' },
    });
  });
});

test('a function and the callbacks that have its name have one share', () => {
  const callback = frame('', '/app/src/a.js', 6, { begins: 6 });
  const { topFunctions } = describeOf(
    400,
    prompt(50, callback, builtin('Array.find'), app('buildSpans', 6, 3)),
    prompt(150, callback, builtin('Array.find'), app('buildSpans', 6, 3)),
    prompt(250, app('buildSpans', 8, 3)),
    prompt(350, lib('buildSpans')),
  );
  expect(topFunctions).toEqual([
    { functionName: 'buildSpans (src/a.js)', share: 0.75 },
    { functionName: 'buildSpans (lib/index.js)', share: 0.25 },
  ]);
});

// --- any stacks

const anyFrame = fc.oneof(
  fc
    .tuple(fc.constantFrom('a', 'b', 'c', ''), fc.integer({ min: 1, max: 3 }))
    .map(([n, l]) => app(n, l)),
  fc.constantFrom(lib('x'), lib('y'), packaged('z', 'express/index.js')),
  fc.constantFrom(node('emit'), builtin('Array.map'), awaiting('w', '/app/src/w.js')),
  fc.constantFrom(entered('e', '/app/src/e.js'), packaged('p', 'dd-trace/index.js')),
);
const anySample = fc
  .tuple(
    fc.integer({ min: 0, max: 1000 }),
    fc.integer({ min: 0, max: 300 }),
    fc.array(anyFrame, { maxLength: 12 }),
  )
  .map(([requestedAt, late, frames]) => sample(requestedAt, requestedAt + late, ...frames));

test('the place, the leaf and the shares hang together', () => {
  fc.assert(
    fc.property(fc.array(anySample, { maxLength: 30 }), (samples) => {
      const {
        code,
        leaf,
        topFunctions,
        nativeTimeMillis = 0,
        samples: count,
      } = describeOf(1000, ...samples);
      expect(count).toBeLessThanOrEqual(samples.length);
      expect(nativeTimeMillis).toBeGreaterThanOrEqual(0);
      expect(nativeTimeMillis).toBeLessThanOrEqual(1000 + 1e-6);
      if (code === undefined) {
        expect(leaf).toBeUndefined();
        return;
      }
      const sampled = samples.flatMap(({ frames }) => frames);
      expect(sampled.some(({ file, line }) => file === code.file && line === code.line)).toBe(true);
      expect(code.stackTrace).toContain(`(${code.file}:${code.line}:`);
      expect(code.file).not.toContain('node:');
      const shares = topFunctions?.map(({ share }) => share) ?? [];
      expect(shares.reduce((sum, share) => sum + share, 0)).toBeLessThanOrEqual(1 + 1e-9);
      expect(shares).toEqual([...shares].sort((a, b) => b - a));
      expect(shares.every((share) => share > 0)).toBe(true);
    }),
    { numRuns: 500 },
  );
});

describe('who called a helper', () => {
  const helper = frame('deepClone', '/app/src/utils.js', 3);
  const calledBy = (...samples: TimedSample[]) =>
    describeOf(100 * samples.length, ...samples).code?.calledBy;

  test('the nearest function of the application in another file, at the line of its call', () => {
    const inner = frame('copy', '/app/src/utils.js', 9);
    const stack = [inner, helper, app('exportOrders', 20), app('handle', 5)];
    const samples = [prompt(50, ...stack), prompt(150, ...stack)];
    expect(calledBy(...samples)).toBe('exportOrders (src/a.js:20)');
    const anonymous = frame('<anonymous>', '/app/src/a.js', 31);
    expect(calledBy(prompt(50, helper, anonymous))).toBe('src/a.js:31');
  });

  test('nobody: one file, a package that calls, or three callers of a third each', () => {
    expect(calledBy(prompt(50, app('hash'), app('handle', 5)))).toBeUndefined();
    expect(calledBy(prompt(50, helper, lib('each')))).toBeUndefined();
    const callers = [app('exportOrders'), app('importOrders'), app('listOrders')];
    const samples = callers.map((caller, i) => prompt(50 + 100 * i, helper, caller));
    expect(describeOf(300, ...samples).code?.functionName).toBe('deepClone');
    expect(calledBy(...samples)).toBeUndefined();
  });

  test('the one of most of the time, whatever had called it before', () => {
    const other = frame('importOrders', '/app/src/b.js', 7);
    const often = [50, 150, 250].map((at) => prompt(at, helper, app('exportOrders', 20)));
    expect(calledBy(...often, prompt(350, helper, other))).toBe('exportOrders (src/a.js:20)');
  });
});
