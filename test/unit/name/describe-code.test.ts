import fc from 'fast-check';
import type { StackFrame } from '../../../src/block.ts';
import { describeCode, placeOfSample } from '../../../src/name/describe-code.ts';
import { createOriginOf } from '../../../src/name/in-app.ts';
import type { TimedSample } from '../../../src/name/weights.ts';
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

  test('how many samples, and how long JavaScript could not be interrupted', () => {
    expect(describeOf(100, prompt(60))).toEqual({ samples: 1, nativeTimeMillis: 0 });
    expect(describeOf(200, prompt(60), sample(100, 240, app('next')))).toEqual({
      samples: 1,
      nativeTimeMillis: 120,
    });
  });

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

test('the one that ran for most of the time, not the one that was captured more often', () => {
  const { code, topFunctions } = describeOf(
    1000,
    prompt(60, app('a')),
    prompt(100, app('a')),
    prompt(140, app('a')),
    prompt(400, app('b')),
    prompt(700, app('b')),
  );
  expect(code?.functionName).toBe('b');
  expect(topFunctions).toEqual([
    { functionName: 'b (src/a.js:1)', share: 0.73 },
    { functionName: 'a (src/a.js:1)', share: 0.27 },
  ]);
});

test('shares take three samples with code, which two between promise reactions are not', () => {
  const { code, topFunctions } = describeOf(200, prompt(60), prompt(100), prompt(140, app('sum')));
  expect(code?.functionName).toBe('sum');
  expect(topFunctions).toBeUndefined();
});

test('a loop of 95 ms, then a native call of 850: the call, and its share', () => {
  const main = app('handler', 50, 40);
  const { code, topFunctions, nativeTimeMillis } = describeOf(
    945,
    prompt(60, app('checkRows', 12), main),
    sample(100, 941, node('scryptSync', 'node:internal/crypto/scrypt'), app('deriveKey', 22), main),
    prompt(943, app('deriveKey', 23), main),
  );
  expect(code).toMatchObject({ functionName: 'deriveKey', line: 22 });
  expect(topFunctions).toEqual([
    { functionName: 'deriveKey', share: 865 / 945 },
    { functionName: 'checkRows', share: 80 / 945 },
  ]);
  expect(nativeTimeMillis).toBe(841 + 20);
});

test('a native call, then a loop: the caller of what had only just been called', () => {
  const main = app('handler', 50, 40);
  const { code, topFunctions } = describeOf(
    1000,
    sample(60, 800, entered('checkRows', '/app/src/b.js'), app('deriveKey', 22), main),
    prompt(806, frame('checkRows', '/app/src/b.js', 3), app('deriveKey', 22), main),
    prompt(906, frame('checkRows', '/app/src/b.js', 3), app('deriveKey', 22), main),
  );
  expect(code).toMatchObject({ functionName: 'deriveKey', line: 22 });
  expect(topFunctions).toEqual([
    { functionName: 'deriveKey', share: 0.8 },
    { functionName: 'checkRows', share: 0.2 },
  ]);
});

test('the line where most of the time was spent, with its stack', () => {
  // JSON.stringify on line 33 for 400 ms, gzipSync on line 34 for 2200.
  const { code } = describeOf(
    2600,
    sample(60, 390, builtin('JSON.stringify'), app('write', 33)),
    prompt(395, builtin('JSON.stringify'), app('write', 33)),
    sample(440, 2598, node('zlibBufferSync', 'node:zlib'), app('write', 34)),
  );
  expect(code).toMatchObject({ functionName: 'write', line: 34 });
  expect(code?.stackTrace).toBe(
    '    at zlibBufferSync (node:zlib:10:5)\n    at write (/app/src/a.js:34:5)',
  );
});

test('the column where most of the time of that line was spent, and the heaviest stack there', () => {
  const at = (line: number, column: number, leaf: string) => [
    lib(leaf),
    { ...app('write', line), column },
  ];
  const { code } = describeOf(
    200,
    prompt(20, ...at(33, 5, 'a')),
    prompt(60, ...at(33, 9, 'b')),
    prompt(80, ...at(34, 5, 'c')),
    prompt(120, ...at(34, 5, 'd')),
    prompt(145, ...at(34, 5, 'e')),
    prompt(180, ...at(34, 9, 'f')),
  );
  expect(code).toMatchObject({ line: 34, column: 5 });
  expect(code?.stackTrace).toContain('at d (');
});

describe('library internals have one name: the caller in the application', () => {
  test.each(['baseClone', 'assignValue', 'mapCacheSet', 'initCloneArray'])('%s', (name) => {
    const clone = [
      packaged('baseClone', 'lodash/lodash.js'),
      packaged('cloneDeep', 'lodash/lodash.js'),
    ];
    const { code, leaf } = describeOf(
      120,
      prompt(60, packaged(name, 'lodash/lodash.js'), ...clone, app('copyState', 7), node('emit')),
    );
    expect(code).toMatchObject({ functionName: 'copyState', line: 7 });
    expect(leaf).toMatchObject({ functionName: name, file: '/app/node_modules/lodash/lodash.js' });
  });

  test('the heaviest function inside it is the leaf, of what it has called only', () => {
    const { code, leaf, topFunctions } = describeOf(
      400,
      prompt(60, lib('exec'), lib('highlight'), app('code', 50)),
      prompt(180, lib('parse'), lib('highlight'), app('code', 50)),
      prompt(270, lib('store'), app('other')),
      prompt(399, lib('store'), app('other')),
    );
    expect(code).toMatchObject({ functionName: 'code', line: 50 });
    expect(leaf?.functionName).toBe('exec');
    expect(topFunctions?.map(({ functionName }) => functionName)).toEqual([
      'store',
      'exec',
      'parse',
    ]);
  });
});

describe('the dominant path', () => {
  test('ends if no function that was called has more than half of the time', () => {
    const main = app('handler', 50, 40);
    const { code } = describeOf(
      400,
      prompt(100, app('a', 12, 10), main),
      prompt(200, app('b', 22, 20), main),
      prompt(300, app('c', 32, 30), main),
    );
    expect(code).toMatchObject({ functionName: 'handler', line: 50 });
  });

  test('that ends before the application goes on to its heaviest function', () => {
    const layer = packaged('handle', 'express/layer.js');
    const { code } = describeOf(
      500,
      prompt(100, app('a', 12, 10), layer),
      prompt(200, lib('render'), app('b', 22, 20), layer),
      prompt(300, lib('render'), app('b', 22, 20), layer),
      prompt(400, lib('query'), layer),
    );
    expect(code).toMatchObject({ functionName: 'b', line: 22 });
  });

  test('that ends before the application follows it, not a heavier package beside it', () => {
    const layer = packaged('handle', 'express/layer.js');
    const { code } = describeOf(
      200,
      prompt(45, lib('query'), layer),
      prompt(135, app('a', 12, 10), layer),
      prompt(165, app('b', 22, 20), layer),
    );
    expect(code).toMatchObject({ functionName: 'a', line: 12 });
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

  test('of packages only is named below the dispatcher: a middleware has only called next()', () => {
    const stack = [
      lib('query'),
      packaged('read', 'store/index.js'),
      packaged('handle', 'express/layer.js'),
      packaged('limit', 'express-rate-limit/index.js'),
      packaged('dispatch', 'router/index.js'),
    ];
    const { code } = describeOf(200, prompt(60, ...stack), prompt(150, ...stack));
    expect(code?.functionName).toBe('read');
  });

  test('of packages only is named above the dispatcher, if nothing is below it', () => {
    const stack = [packaged('next', 'express/layer.js'), packaged('limit', 'limiter/index.js')];
    const { code } = describeOf(200, prompt(60, ...stack), prompt(150, ...stack));
    expect(code?.functionName).toBe('limit');
  });

  test('ends at what all have in common, if there are frameworks only', () => {
    const dispatch = packaged('dispatch', 'express/router.js');
    const { code } = describeOf(
      300,
      prompt(50, packaged('a', 'express/a.js'), dispatch),
      prompt(160, packaged('b', 'express/b.js'), dispatch),
      prompt(250, packaged('c', 'express/c.js'), dispatch),
    );
    expect(code?.functionName).toBe('dispatch');
  });

  test('ends at a framework that ran itself for most of its time: Koa, which serializes a body', () => {
    const respond = packaged('respond', 'koa/lib/application.js');
    const described = describeOf(
      300,
      prompt(100, respond),
      prompt(200, builtin('JSON.stringify'), respond),
      prompt(290, packaged('length', 'delegates/index.js'), respond),
    );
    expect(described.code?.functionName).toBe('respond');
  });

  test('of functions that have nothing in common begins with the heaviest', () => {
    const { code } = describeOf(
      400,
      prompt(100, lib('a')),
      prompt(200, packaged('b', 'other/b.js')),
      prompt(390, packaged('c', 'third/c.js')),
    );
    expect(code?.functionName).toBe('a');
  });

  test('time without a name is no time against it', () => {
    const { code } = describeOf(
      400,
      prompt(60, app('sampled')),
      prompt(100),
      prompt(300),
      prompt(390),
    );
    expect(code?.functionName).toBe('sampled');
  });
});

describe('without the application on the stack', () => {
  test('the entry of the package that is no framework', () => {
    const { code, leaf } = describeOf(
      120,
      prompt(
        60,
        packaged('baseClone', 'lodash/lodash.js'),
        packaged('read', '@verdaccio/store/build/storage.js'),
        packaged('route', '@verdaccio/api/build/package.js'),
        packaged('handle', 'express/lib/router/layer.js'),
        packaged('patched', '@opentelemetry/instrumentation-express/build/src/instrumentation.js'),
        node('emit', 'node:events'),
      ),
    );
    expect(code).toMatchObject({
      functionName: 'route',
      file: '/app/node_modules/@verdaccio/api/build/package.js',
    });
    expect(leaf).toMatchObject({ functionName: 'baseClone' });
  });

  test('the deepest function, if there are frameworks only', () => {
    const { code } = describeOf(
      120,
      prompt(
        60,
        packaged('inner', 'fastify/lib/handle-request.js'),
        packaged('outer', 'fastify/lib/route.js'),
      ),
    );
    expect(code?.functionName).toBe('inner');
  });

  test('frames that are left out in the middle of a deep stack are no function', () => {
    const omitted = frame('', undefined, 1, { isBuiltin: false, text: '... 400 more frames ...' });
    const { code } = describeOf(120, prompt(60, lib('walk'), omitted, lib('walk'), app('copy', 7)));
    expect(code).toMatchObject({ functionName: 'copy', line: 7 });
    expect(code?.stackTrace).toContain('\n    ... 400 more frames ...\n');
  });

  test('what awaits it, if nothing else is known', () => {
    const { code } = describeOf(
      120,
      prompt(60, node('drain'), awaiting('handler', '/app/src/a.js', 12)),
    );
    expect(code).toMatchObject({ functionName: 'handler', line: 12 });
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

  test('also if a package requires it, and as a path', () => {
    const module = frame('', 'file:///app/node_modules/big/index.mjs', 3);
    const { code } = describeOf(
      120,
      prompt(60, module, ...loader, lib('lazy'), app('handler', 33)),
    );
    expect(code).toMatchObject({ line: 33, requires: '/app/node_modules/big/index.mjs' });
  });

  test('if it was compiled and had not run yet', () => {
    const { code } = describeOf(
      180,
      sample(60, 180, { ...index(1), isAtEntry: true }, ...loader, app('handler', 33)),
    );
    expect(code).toMatchObject({ line: 33, requires: '/app/node_modules/big/index.js' });
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

  test('is not named for what it has called, whatever that is', () => {
    const called = [
      [lib('executeField')],
      [node('readFileSync', 'node:fs')],
      [builtin('JSON.stringify')],
      [],
    ];
    const samples = called.map((frames, i) =>
      prompt(60 + 40 * i, ...frames, { ...wrapper, isAtEntry: frames.length === 0 }, app('answer')),
    );
    const described = describeOf(200, ...samples);
    expect(described.code?.functionName).toBe('answer');
    expect(names(described)).not.toContain('patchedExecute');
  });

  test('is among the functions that ran, by what it ran itself', () => {
    const described = describeOf(
      400,
      prompt(60, source, ...resolve),
      prompt(160, lib('executeField'), ...resolve),
      prompt(260, lib('executeField'), ...resolve),
      prompt(360, lib('executeField'), ...resolve),
    );
    expect(described.code).toMatchObject({ functionName: 'answer', line: 33 });
    expect(names(described)).toEqual(['executeField', 'getSourceFromLocation']);
  });

  test('is named if that is more than half, however it was called', () => {
    const described = describeOf(
      400,
      prompt(60, source, lib('completeList'), ...resolve),
      prompt(160, source, ...resolve),
      prompt(260, packaged('addField', AGENT), ...resolve),
      prompt(360, lib('executeField'), ...resolve),
    );
    expect(described.code).toMatchObject({ functionName: 'getSourceFromLocation', line: 160 });
    expect(described).not.toHaveProperty('leaf');
  });

  describe('that sets a context', () => {
    const FRAME = 'node:internal/async_context_frame';
    const STORAGE = 'node:internal/async_local_storage/async_context_frame';
    const MANAGER = '@opentelemetry/context-async-hooks/build/src/ALSContextManager.js';
    const run = node('AsyncLocalStorage.run', STORAGE);
    const enterWith = node('AsyncLocalStorage.enterWith', STORAGE);
    const within = [run, packaged('with', MANAGER), ...resolve];
    const named = (...innermost: StackFrame[]) =>
      describeOf(
        400,
        ...[60, 160, 260].map((at) => prompt(at, ...innermost, ...within)),
        prompt(360, lib('executeField'), ...resolve),
      ).code?.functionName;

    test('is not, if Node.js may have got back from what ran in the context', () => {
      // Node.js 24, and 26.
      expect(named({ ...enterWith, isAtEntry: true })).toBe('answer');
      expect(named(entered('set', FRAME))).toBe('answer');
    });

    test('is not for what else Node.js does: it wraps a call of the application', () => {
      const read = [
        entered('validateInteger', 'node:internal/validators'),
        node('read', 'node:fs'),
      ];
      expect(named(...read, wrapper, source)).toBe('answer');
      expect(named(entered('read', 'node:fs'), wrapper, source)).toBe('answer');
    });

    test('is not, if the application sets one', () => {
      const made = [node('new AsyncContextFrame', FRAME), enterWith, run, app('inContext')];
      expect(named(...made)).toBe('inContext');
    });
  });

  describe('whose functions call each other in turn', () => {
    const field = packaged('createField', AGENT);
    const start = packaged('startSpan', '@opentelemetry/sdk-trace/build/src/Tracer.js');
    const get = entered('get', '/app/node_modules/@opentelemetry/core/build/src/index.js');

    test('is named by the innermost function that has most of it, wherever V8 stopped', () => {
      const described = describeOf(
        600,
        prompt(60, get, start, field, ...resolve.slice(1)),
        prompt(
          160,
          builtin('Map.set'),
          builtin('new Map'),
          packaged('setSpan', AGENT),
          field,
          ...resolve.slice(1),
        ),
        prompt(260, { ...start, isAtEntry: true }, field, ...resolve.slice(1)),
        prompt(360, builtin('Array.join'), packaged('addField', AGENT), field, ...resolve.slice(1)),
        prompt(460, lib('executeField'), ...resolve),
        prompt(560, lib('executeField'), ...resolve),
      );
      expect(described.code).toMatchObject({ functionName: 'createField' });
      expect(described.leaf).toMatchObject({ functionName: 'startSpan' });
      expect(names(described)).toEqual([
        'executeField',
        'startSpan',
        'setSpan',
        'createField',
        'addField',
      ]);
    });

    test.each([
      ['its wrapper calls', [get, wrapper]],
      ['a function calls that Node.js calls', [get, field, node('run', 'node:async_hooks'), start]],
    ])('is not named if it has only just been called by what %s', (_, frames) => {
      const stack = [...frames, app('answer', 33)];
      const described = describeOf(400, ...[60, 160, 260, 360].map((at) => prompt(at, ...stack)));
      expect(described.code?.functionName).toBe('answer');
    });

    test('nor by what came late', () => {
      const stack = [get, start, ...resolve.slice(1)];
      const described = describeOf(400, sample(60, 160, ...stack), sample(200, 390, ...stack));
      expect(described.code?.functionName).toBe('answer');
    });
  });

  test('is not named for a single sample, if anything else is on the stack', () => {
    const stack = [packaged('p', 'dd-trace/index.js'), packaged('z', 'express/index.js')];
    const [one] = [prompt(60, ...stack)];
    expect(describeOf(120, one).code?.functionName).toBe('z');
    expect(placeOfSample(one, options.originOf)?.functionName).toBe('z');
  });

  test('this package is one', () => {
    const described = describeOf(
      400,
      ...[60, 160, 260].map((at) => prompt(at, own('with'), ...resolve)),
    );
    expect(described.code?.functionName).toBe('with');
  });

  test('also if it waited for a CPU', () => {
    const described = describeOf(400, sample(60, 300, source, ...resolve), prompt(360, ...resolve));
    expect(described.code?.functionName).toBe('getSourceFromLocation');
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

  test('is not named by what a native call, or a wrapper of one, has returned to', () => {
    const call = { name: 'JSON.parse', size: undefined };
    const described = describeOf(
      1000,
      sample(60, 400, { ...source, isAtEntry: true }, wrapper, ...resolve),
      { ...prompt(420, own('safepoint'), ...resolve), nativeCall: call },
      { ...sample(460, 990, own('safepoint'), ...resolve), nativeCall: call },
    );
    expect(described.code?.functionName).toBe('answer');
    expect(names(described)).toEqual(['executeField']);
  });
});

describe('a regular expression', () => {
  const check = [builtin('RegExp.test'), app('check', 7)];

  test('is the native call of its function: V8 interrupts it, unlike others', () => {
    const described = describeOf(200, ...[60, 120, 180].map((at) => prompt(at, ...check)));
    expect(described).toMatchObject({
      code: { functionName: 'check', line: 7 },
      nativeCall: { name: 'RegExp#test' },
    });
  });

  test('is not what ran before a sample that came late', () => {
    expect(describeOf(400, sample(60, 350, ...check)).nativeCall).toBeUndefined();
    expect(describeOf(400, sample(60, 130, ...check)).nativeCall?.name).toBe('RegExp#test');
  });
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

  test('called by a package that nobody has called is what the package has called', () => {
    const { code } = describeOf(200, prompt(60, wasm, lib('tokenize'), node('emit')));
    expect(code?.functionName).toBe('tokenize');
  });

  test('that ran for less than half of the block is no native call', () => {
    const stack = [prompt(40, wasm, app('report')), prompt(100, app('report'))];
    expect(describeOf(200, ...stack)).not.toHaveProperty('nativeCall');
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

test('shares need three samples, and are of five functions at most', () => {
  expect(describeOf(120, prompt(60, app('a')), prompt(100, app('b'))).topFunctions).toBeUndefined();
  const many = Array.from({ length: 9 }, (_, i) => prompt(10 * i, app(`f${i}`)));
  expect(describeOf(90, ...many).topFunctions).toHaveLength(5);
});

test('for shares, one that came late counts as two: what ran before, and what came next', () => {
  const next = entered('compute', '/app/src/a.js');
  const late = sample(60, 800, next, app('derive'));
  expect(describeOf(1000, late, prompt(900, app('compute'))).topFunctions).toEqual([
    { functionName: 'derive', share: 0.8 },
    { functionName: 'compute', share: 0.2 },
  ]);
  expect(describeOf(1000, late).topFunctions).toBeUndefined();
});

test('shares of functions without a name say where they are', () => {
  const anonymous = (line: number) => frame('', '/app/src/a.js', line + 1, { begins: line });
  expect(
    describeOf(
      300,
      prompt(100, anonymous(31)),
      prompt(200, anonymous(31)),
      prompt(299, anonymous(55)),
    ).topFunctions?.map(({ functionName }) => functionName),
  ).toEqual(['<anonymous> (src/a.js:31)', '<anonymous> (src/a.js:55)']);
});

test('paths, not URLs', () => {
  const { code } = describeOf(100, prompt(60, frame('f', 'file:///app/src/a.mjs')));
  expect(code?.file).toBe('/app/src/a.mjs');
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

test('the place of a single sample is what ran until it came, however late', () => {
  const stack = [entered('next', '/app/src/b.js'), app('handle', 7)];
  const placeOf = (one: TimedSample) => placeOfSample(one, options.originOf);
  expect(placeOf(sample(100, 180, ...stack))).toMatchObject({ functionName: 'handle', line: 7 });
  expect(placeOf(prompt(180, ...stack))).toMatchObject({ functionName: 'next' });
  expect(placeOf(sample(Number.NaN, 180, ...stack))).toMatchObject({ functionName: 'next' });
  expect(placeOf(prompt(180))).toBeUndefined();
});
