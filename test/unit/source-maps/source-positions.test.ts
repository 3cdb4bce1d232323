/** What waits, what does not, and what remains of a thread. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { MessagePort, Worker } from 'node:worker_threads';
import { passesOn } from '../../../src/name/continuation.ts';
import { dependsOn } from '../../../src/name/packages.ts';
import { withoutReading } from '../../../src/name/reading.ts';
import {
  type GeneratedPosition,
  positionsOfStackTrace,
  type SourcePositionList,
  withSourcePositions,
} from '../../../src/source-maps/position.ts';
import { SourcePositions } from '../../../src/source-maps/source-positions.ts';
import { buildApp, makeFolder, placeOf, removeFolders, SOURCES } from './support.ts';

const log = { log: jest.fn() };
let positions: SourcePositions | undefined;

afterEach(() => {
  positions?.stop();
  positions = undefined;
  log.log.mockClear();
  jest.restoreAllMocks();
});
afterAll(removeFolders);

function make(options: ConstructorParameters<typeof SourcePositions>[1] = {}): SourcePositions {
  positions = new SourcePositions(log, { maxWaitMillis: 20_000, ...options });
  return positions;
}

function app() {
  const folder = makeFolder();
  const file = buildApp(folder);
  const { line, column } = placeOf(readFileSync(file, 'utf8'), 'MARK-report');
  const original = placeOf(SOURCES['src/report.ts'], 'MARK-report');
  return {
    folder,
    file,
    position: { file, line, column },
    source: {
      file: path.join(folder, 'src/report.ts'),
      line: original.line,
      column: original.column - 1,
    },
  };
}

const ask = (of: SourcePositions, list: readonly GeneratedPosition[]) =>
  new Promise<SourcePositionList>((resolve) => of.lookup(list, resolve));

/** What is known without waiting; undefined if a thread has to be asked. */
function known(
  of: SourcePositions,
  list: readonly GeneratedPosition[],
): SourcePositionList | undefined {
  let found: SourcePositionList | undefined;
  of.lookup(list, (result) => {
    found = result;
  });
  return found;
}

test('in the order that was asked for, and at once the next time', async () => {
  const { folder, file, position, source } = app();
  const other = { file: path.join(folder, 'src/report.ts'), line: 1, column: 1 };
  const list = [other, position, { file: 'node:fs', line: 1, column: 1 }];
  const of = make();
  const expected = [undefined, source, undefined];
  expect(await ask(of, list)).toEqual(expected);
  rmSync(`${file}.map`);
  let again: SourcePositionList | undefined;
  of.lookup(list, (found) => {
    again = found;
  });
  expect(again).toEqual(expected);
  expect(log.log).not.toHaveBeenCalled();
});

test('a lookup does not wait longer than it may, and what comes later is known the next time', async () => {
  const { position, source } = app();
  const of = make({ maxWaitMillis: 1 });
  // On a busy machine the thread may be as fast as the timer: what it is sent is held back.
  const held: (() => void)[] = [];
  const post = MessagePort.prototype.postMessage;
  const spy = jest.spyOn(MessagePort.prototype, 'postMessage');
  spy.mockImplementation(function (this: MessagePort, ...args: Parameters<typeof post>) {
    held.push(() => post.apply(this, args));
  } as typeof post);
  expect(await ask(of, [position])).toEqual([undefined]);
  expect(held.length).toBeGreaterThan(0);
  spy.mockRestore();
  for (const send of held) send();
  while (known(of, [position])?.[0] === undefined)
    await new Promise((resolve) => setTimeout(resolve, 5));
  expect(known(of, [position])).toEqual([source]);
});

test('an answer that has arrived during a block is not lost to the timeout', async () => {
  const { position, source } = app();
  const of = make({ maxWaitMillis: 500 });
  await ask(of, [{ ...position, line: 999 }]);
  // After immediates, timers come before messages.
  await new Promise<void>((resolve) => setImmediate(resolve));
  const found = ask(of, [position]);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 700);
  expect(await found).toEqual([source]);
});

/** Each thread, from when it is started. */
function startedThreads(): Worker[] {
  const started: Worker[] = [];
  const { unref } = Worker.prototype;
  jest.spyOn(Worker.prototype, 'unref').mockImplementation(function (this: Worker) {
    started.push(this);
    unref.call(this);
  });
  return started;
}

test('a thread that is not needed ends, and another one is started', async () => {
  const { position, source } = app();
  const [started, of] = [startedThreads(), make({ idleMillis: 20 })];
  expect(await ask(of, [position])).toEqual([source]);
  await once(started[0] as Worker, 'exit');
  expect(await ask(of, [{ ...position, line: 999 }])).toEqual([undefined]);
  expect(started).toHaveLength(2);
});

test('a file that has ended the thread is not asked for again, others are', async () => {
  const { position } = app();
  const [started, of] = [startedThreads(), make()];
  const found = ask(of, [position]);
  while (started.length === 0) await new Promise((resolve) => setImmediate(resolve));
  await started[0]?.terminate();
  expect(await found).toEqual([undefined]);
  expect(await ask(of, [{ ...position, line: 999 }])).toEqual([undefined]);
  expect(started).toHaveLength(1);
  const other = app();
  expect(await ask(of, [other.position])).toEqual([other.source]);
});

test('a map that a comment names and that is not there is looked for once', async () => {
  const folder = makeFolder({ 'a.js': 'let a;\n//# sourceMappingURL=a.js.map' });
  const file = path.join(folder, 'a.js');
  const of = make();
  expect(await ask(of, [{ file, line: 1, column: 1 }])).toEqual([undefined]);
  const post = jest.spyOn(MessagePort.prototype, 'postMessage');
  expect(await ask(of, [{ file, line: 2, column: 1 }])).toEqual([undefined]);
  expect(post).not.toHaveBeenCalled();
  expect(log.log).not.toHaveBeenCalled();
});

test('why a map is not used is logged', async () => {
  const { file, position } = app();
  writeFileSync(`${file}.map`, '{');
  expect(await ask(make(), [position])).toEqual([undefined]);
  expect(log.log.mock.calls).toEqual([
    ['info', 'a source map cannot be used', file, expect.stringContaining('SyntaxError')],
  ]);
});

test('a throw of the callback for the positions is logged', async () => {
  const { position } = app();
  const of = make();
  const error = new Error('thrown');
  const thrower = () => {
    throw error;
  };
  of.lookup([position], thrower);
  await of.settled();
  of.lookup([position], thrower);
  expect(log.log.mock.calls).toEqual([
    ['error', 'cannot use positions in the source', error],
    ['error', 'cannot use positions in the source', error],
  ]);
});

test('what names need is read by the thread, and known from then on', async () => {
  const call = 'function timer(next) { return next(); }';
  const folder = makeFolder({
    'a.js': call,
    'node_modules/b/package.json': '{"dependencies":{"c":"*"}}',
  });
  const frame = { file: path.join(folder, 'a.js'), line: 1, functionLine: 1, functionColumn: 1 };
  const frames = ['next()', 'timer'].map((what) => ({ ...frame, ...placeOf(call, what) }));
  const packages = ['b', 'c'].map((name) => path.join(folder, 'node_modules', name));
  const answers = () =>
    withoutReading(() => [
      ...frames.map(passesOn),
      dependsOn(packages[0] as string, packages[1] as string),
      dependsOn(packages[1] as string, packages[0] as string),
    ]);
  expect(answers()).toEqual({ result: [false, false, undefined, undefined], isComplete: false });
  await new Promise<void>((resolve) => make().read(frames, packages, resolve));
  expect(answers()).toEqual({ result: [true, false, true, undefined], isComplete: true });
});

test('a thread that has not answered: code that needs a compiler has no line', async () => {
  const folder = makeFolder();
  const file = path.join(folder, 'src/report.ts');
  const position = { file, line: 1, column: 1, offset: 0 };
  const of = make();
  const done = jest.fn();
  of.lookup([position], done);
  of.settle();
  expect(done.mock.calls).toEqual([[[{ file, line: undefined, column: undefined }]]]);
  // It is a file as it is, and jest has no map of it.
  expect(await ask(of, [position])).toEqual([undefined]);
});

test('what an answer leads to waits no longer than the lookup, and is answered by settle', () => {
  const { position } = app();
  const of = make();
  const done = jest.fn();
  of.lookup([position], () => of.read([{ ...position, line: 7 }], [], done));
  of.settle();
  expect(done).toHaveBeenCalledTimes(1);
});

test('stop answers what waits', () => {
  const { position } = app();
  const of = make();
  const done = jest.fn();
  of.lookup([position], done);
  of.stop();
  expect(done.mock.calls).toEqual([[[undefined]]]);
});

test('the request that was blocked is not the context of what comes later', async () => {
  const store = new AsyncLocalStorage<string>();
  const { position } = app();
  const of = make();
  const observed: unknown[] = [];
  await store.run('request', () => ask(of, [position]));
  const late = new Promise<void>((resolve) =>
    of.lookup([{ ...position, line: 999 }], () => {
      observed.push(store.getStore());
      resolve();
    }),
  );
  await late;
  expect(observed).toEqual([undefined]);
});

test('a stack trace', () => {
  const stackTrace = [
    'Error: (/not/a/frame:1:2) said',
    '    at e (/app/main.js:1:2)',
    '    at async file:///app/main.js:1:2',
    '    at JSON.parse (<anonymous>)',
    '    at node:internal/timers:1:2',
    '    at t (C:\\app\\other.js:1:2)',
  ].join('\n');
  const positions = positionsOfStackTrace(stackTrace);
  expect(positions.map((position) => position?.file)).toEqual([
    undefined,
    '/app/main.js',
    'file:///app/main.js',
    undefined,
    undefined,
    'C:\\app\\other.js',
  ]);
  const source = { file: '/app/main.ts', line: 30, column: 4 };
  const onlyFile = { ...source, line: undefined, column: undefined };
  const found = [undefined, source, onlyFile, undefined, undefined, undefined];
  expect(withSourcePositions(stackTrace, found)).toBe(
    stackTrace
      .replace('/app/main.js:1:2', '/app/main.ts:30:4')
      .replace('file:///app/main.js:1:2', '/app/main.ts'),
  );
});
