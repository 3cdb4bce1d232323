/** What waits, what does not, and what remains of a thread. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { MessagePort, Worker } from 'node:worker_threads';
import type { StackFrame } from '../../../src/block.ts';
import { Explainer } from '../../../src/core/explain/explainer.ts';
import type { SampledCode } from '../../../src/core/explain/name/describe-code.ts';
import { createOriginOf } from '../../../src/core/explain/name/in-app.ts';
import { frame, sample } from '../name/support/stacks.ts';
import { buildApp, makeFolder, placeOf, removeFolders, SOURCES } from '../source-maps/support.ts';

/** A map of 10 MB takes this long on a machine that lacks CPU. */
const LATE_MILLIS = 1500;

const log = { log: jest.fn() };
let explainer: Explainer | undefined;
let mayName = true;

afterEach(() => {
  explainer?.stop();
  explainer = undefined;
  mayName = true;
  log.log.mockClear();
  jest.restoreAllMocks();
});
afterAll(removeFolders);

type Times = ConstructorParameters<typeof Explainer>[2];

function make(times: Times = {}, defaults: Times = { maxWaitMillis: 20_000 }): Explainer {
  const options = {
    originOf: createOriginOf(),
    origin: {},
    asksOrigins: false,
    cwd: '/app',
    hasMaps: true,
    isRecorded: false,
    mayName: () => mayName,
    asNaming: <T>(work: () => T) => work(),
    collections: () => undefined,
    schedule: (turn: () => void) => void setImmediate(turn),
    asOwnWork: (work: () => void) => work(),
  };
  explainer = new Explainer(options, log, { ...defaults, ...times });
  return explainer;
}

function app() {
  const file = buildApp(makeFolder());
  const { line, column } = placeOf(readFileSync(file, 'utf8'), 'MARK-report');
  const original = placeOf(SOURCES['src/report.ts'], 'MARK-report');
  const source = path.join(file, '../../src/report.ts');
  return {
    file,
    compiled: frame('f', file, line, { column }),
    source: `${source}:${original.line}`,
    built: `${file}:${line}`,
  };
}

const blockOf = (...frames: StackFrame[]) => ({
  samples: [{ ...sample(60, 60, ...frames), weight: 100 }] as never,
  start: 0,
  end: 100,
});
const placeIn = ({ code }: SampledCode) => code && `${code.file}:${code.line}`;
const explain = (of: Explainer, ...frames: StackFrame[]) =>
  new Promise<string | undefined>((resolve) =>
    of.explain(blockOf(...frames), (code) => resolve(placeIn(code))),
  );

test('a block is explained in the source, and so are its samples', async () => {
  const { compiled, source } = app();
  const other = frame('g', '/app/gone.js', 3);
  const [code, samples] = await new Promise<unknown[]>((resolve) =>
    make().explain(blockOf(compiled, other), (...explained) => resolve(explained)),
  );
  expect(placeIn(code as SampledCode)).toBe(source);
  expect((samples as { frames: StackFrame[] }[])[0]?.frames.map(({ file }) => file)).toEqual([
    source.slice(0, source.lastIndexOf(':')),
    '/app/gone.js',
  ]);
  expect(log.log).not.toHaveBeenCalled();
});

test('a block that may have no name has its number of samples, later', async () => {
  mayName = false;
  const explained = new Promise<SampledCode>((resolve) => {
    make().explain(blockOf(app().compiled), resolve);
  });
  expect(explainer?.isWaiting).toBe(true);
  expect(await explained).toEqual({ samples: 1 });
});

test('a block waits no longer than it may, and what comes later is not told twice', async () => {
  const { compiled, built, source } = app();
  const of = make({ maxWaitMillis: 1 });
  // On a busy machine the thread may be as fast as the timer: what it is sent is held back.
  const held: (() => void)[] = [];
  const post = MessagePort.prototype.postMessage;
  const spy = jest.spyOn(MessagePort.prototype, 'postMessage');
  spy.mockImplementation(function (this: MessagePort, ...args: Parameters<typeof post>) {
    held.push(() => post.apply(this, args));
  } as typeof post);
  const done = jest.fn();
  of.explain(blockOf(compiled), done);
  await of.settled();
  expect(done.mock.calls.map(([code]) => placeIn(code))).toEqual([built]);
  expect(held.length).toBeGreaterThan(0);
  spy.mockRestore();
  for (const send of held) send();
  const [patient] = [make()];
  expect(await explain(patient, compiled)).toBe(source);
  expect(done).toHaveBeenCalledTimes(1);
});

test('a block waits for a large map that comes late: one function has one row', async () => {
  const { compiled, source } = app();
  const of = make({}, {});
  const post = MessagePort.prototype.postMessage;
  const spy = jest.spyOn(MessagePort.prototype, 'postMessage');
  spy.mockImplementation(function (this: MessagePort, ...args: Parameters<typeof post>) {
    setTimeout(() => post.apply(this, args), LATE_MILLIS);
  } as typeof post);
  expect(await explain(of, compiled)).toBe(source);
});

test('an answer that has arrived during a block is not lost to the timeout', async () => {
  const { compiled, source } = app();
  const of = make({ maxWaitMillis: 500 });
  await explain(of, { ...compiled, line: 999 });
  const found = explain(of, compiled);
  // After immediates, timers come before messages.
  await new Promise<void>((resolve) => setImmediate(resolve));
  await new Promise<void>((resolve) => setImmediate(resolve));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 700);
  expect(await found).toBe(source);
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
  const { compiled, source } = app();
  const [started, of] = [startedThreads(), make({ idleMillis: 20 })];
  expect(await explain(of, compiled)).toBe(source);
  await once(started[0] as Worker, 'exit');
  expect(await explain(of, compiled)).toBe(source);
  expect(started).toHaveLength(2);
});

test('files of a block that has ended the thread are not opened again, others are', async () => {
  const { compiled, built } = app();
  const [started, of] = [startedThreads(), make()];
  const found = explain(of, compiled);
  while (started.length === 0) await new Promise((resolve) => setImmediate(resolve));
  started[0]?.emit('error', new Error('out of memory'));
  await started[0]?.terminate();
  expect(await found).toBe(built);
  expect(await explain(of, compiled)).toBe(built);
  const other = app();
  expect(await explain(of, other.compiled)).toBe(other.source);
  expect(log.log.mock.calls.map(([, message]) => message)).toEqual([
    'the thread that explains failed',
  ]);
});

test('why a map is not used is logged', async () => {
  const { file, compiled, built } = app();
  writeFileSync(`${file}.map`, '{');
  expect(await explain(make(), compiled)).toBe(built);
  expect(log.log.mock.calls).toEqual([
    ['info', 'a source map cannot be used', file, expect.stringContaining('SyntaxError')],
  ]);
});

test('what the report throws is logged, and others are reported', async () => {
  const of = make();
  const error = new Error('thrown');
  of.explain(blockOf(frame('f', '/app/f.js')), () => {
    throw error;
  });
  expect(await explain(of, frame('g', '/app/g.js', 2))).toBe('/app/g.js:2');
  expect(log.log.mock.calls).toEqual([['error', 'cannot report a block', error]]);
});

test('without an answer, code that needs a compiler has no line', () => {
  const of = make();
  const done = jest.fn();
  of.explain(blockOf(frame('f', '/app/src/report.ts', 3)), done);
  of.settle();
  expect(done.mock.calls.map(([code]) => placeIn(code))).toEqual(['/app/src/report.ts:undefined']);
});

test('without an answer, it still says which module was being loaded', () => {
  const of = make();
  const done = jest.fn();
  const loader = frame('', 'node:internal/modules/cjs/loader', 10, {
    text: 'Module._compile (node:internal/modules/cjs/loader:10:1)',
  });
  const module = frame('', '/app/node_modules/big/index.js', 3);
  of.explain(blockOf(module, loader, frame('f', '/app/src/report.ts', 3)), done);
  of.settle();
  expect(done.mock.calls[0]?.[0]).toMatchObject({
    code: { functionName: 'f', requires: '/app/node_modules/big/index.js' },
  });
});

test('without an answer, a block is named by what is known', () => {
  const of = make();
  const done = jest.fn();
  const samples = [20, 40, 95].map((time) => sample(time, time, frame(`at${time}`, '/app/a.js')));
  of.explain({ samples: samples as never, start: 0, end: 100 }, done);
  of.stop();
  expect(
    done.mock.calls.map(([{ code, topFunctions }]) => [code.functionName, topFunctions.length]),
  ).toEqual([['at40', 3]]);
});

test('a block whose samples cannot be read is reported without a name', async () => {
  const of = make();
  const done = jest.fn();
  const error = new Error('no call site');
  const unreadable = {
    ...sample(60, 60),
    weight: 100,
    get frames(): never {
      throw error;
    },
  };
  of.explain({ samples: [unreadable] as never, start: 0, end: 100 }, done);
  await of.settled();
  expect(done.mock.calls.map(([code]) => code)).toEqual([{ samples: 1 }]);
  expect(log.log).toHaveBeenCalledWith('error', 'cannot describe the code of a block', error);
});

test('samples are copied in turns of a millisecond', async () => {
  const of = make();
  let turns = 0;
  let isDone = false;
  const samples = Array.from({ length: 20 }, (_, i) => ({
    ...sample(i * 5, i * 5),
    get frames() {
      for (const until = performance.now() + 0.5; performance.now() < until; );
      return [frame('f', '/app/f.js')];
    },
  }));
  of.explain({ samples: samples as never, start: 0, end: 100 }, () => {
    isDone = true;
  });
  for (; !isDone; turns++) await new Promise<void>((resolve) => setImmediate(resolve));
  expect(turns).toBeGreaterThanOrEqual(7);
});

test('the request that was blocked is not the context of what comes later', async () => {
  const store = new AsyncLocalStorage<string>();
  const of = make();
  const stores: unknown[] = [];
  const explained = (file: string) =>
    new Promise<void>((resolve) =>
      of.explain(blockOf(frame('f', file)), () => {
        stores.push(store.getStore());
        resolve();
      }),
    );
  await store.run('request', () => explained('/app/a.js'));
  await explained('/app/b.js');
  expect(stores[1]).toBeUndefined();
});
