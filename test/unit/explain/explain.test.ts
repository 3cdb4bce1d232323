/** A block is explained in the source: what is looked up, and what the main thread is asked. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { StackFrame } from '../../../src/block.ts';
import {
  type ExplainOptions,
  explain,
  type MainThread,
} from '../../../src/core/explain/explain.ts';
import { passesOn } from '../../../src/core/explain/name/continuation.ts';
import { createOriginOf } from '../../../src/core/explain/name/in-app.ts';
import { dependsOn } from '../../../src/core/explain/name/packages.ts';
import { BlockRecorder } from '../../../src/core/explain/recorded.ts';
import type { GeneratedPosition } from '../../../src/core/explain/source-maps/position.ts';
import { allowReading, mayRead } from '../../../src/support/reading.ts';
import { frame, sample } from '../name/support/stacks.ts';
import { makeFolder, placeOf, removeFolders } from '../source-maps/support.ts';

const TEXT = 'interface Row {\r\n  id: number;\n}\nexport function hash(rows: Row[]) {\n}\n';
const OFFSET = TEXT.indexOf('hash');

afterAll(removeFolders);

function makeFile(name: string, text: string): string {
  const made = path.join(makeFolder({}), name);
  writeFileSync(made, text);
  return made;
}

/** The block of one stack. */
function recordedOf(frames: readonly StackFrame[]) {
  const samples = [{ ...sample(60, 60, ...frames), weight: 100 }] as never;
  const recorder = new BlockRecorder({ samples, start: 0, end: 100 }, undefined);
  while (!recorder.step());
  return recorder.recorded;
}

function explainFrames(
  frames: readonly StackFrame[],
  options: Partial<ExplainOptions> = {},
  main: MainThread = {},
) {
  const given = {
    isRecorded: false,
    originOf: createOriginOf(),
    cwd: '/app',
    hasMaps: true,
    unsafe: new Set<string>(),
  };
  return explain(recordedOf(frames), { ...given, find: () => undefined, ...options }, main);
}

test('before a thread allows it, no file is read for a name', () => {
  const call = 'function timer(next) { return next(); }';
  const folder = makeFolder({
    'a.js': call,
    'node_modules/b/package.json': '{"dependencies":{"c":"*"}}',
  });
  const place = { file: path.join(folder, 'a.js'), line: 1, functionLine: 1, functionColumn: 1 };
  const [b = '', c = ''] = ['b', 'c'].map((name) => path.join(folder, 'node_modules', name));
  const answers = () => [passesOn({ ...place, ...placeOf(call, 'next()') }), dependsOn(b, c)];
  expect(mayRead()).toBe(false);
  expect(answers()).toEqual([false, undefined]);
  allowReading();
  expect(answers()).toEqual([true, true]);
});

const CHUNKS = '/app/.next/server/chunks/ssr';
const PAGE_CHUNK = `${CHUNKS}/node_modules_next_dist_esm_build_templates_pages_1a2b.js`;

test("a page in a chunk that is called after Next's template is the application's", async () => {
  const asked: GeneratedPosition[] = [];
  const find = (position: GeneratedPosition) => {
    const { file, line, column } = position;
    asked.push(position);
    return file === PAGE_CHUNK
      ? { file: '/app/lib/report.js', line: line + 3, column, functionName: 'summarize' }
      : undefined;
  };
  const root = `${CHUNKS}/[root-of-the-server]__1a2b._.js`;
  const { code, inSource } = await explainFrames(
    [
      frame('a', PAGE_CHUNK, 1),
      frame('trace', '/app/node_modules/next/dist/server/lib/trace/tracer.js', 196),
      frame('start', root, 1),
    ],
    { find },
  );
  expect(code.code).toMatchObject({
    functionName: 'summarize',
    file: '/app/lib/report.js',
    line: 4,
  });
  expect(inSource.map(([index, { file, text }]) => [index, file, text])).toEqual([
    [
      0,
      '/app/lib/report.js',
      `a (${PAGE_CHUNK}:1:5)`.replace(`${PAGE_CHUNK}:1`, '/app/lib/report.js:4'),
    ],
  ]);
  expect(new Set(asked.map(({ file }) => file))).toEqual(new Set([PAGE_CHUNK, root]));
});

test('without maps, and in a file that has ended a thread, nothing is looked up', async () => {
  const find = jest.fn();
  const frames = [frame('a', '/app/a.js', 3)];
  await explainFrames(frames, { find, hasMaps: false });
  await explainFrames(frames, { find, unsafe: new Set(['/app/a.js']) });
  expect(find).not.toHaveBeenCalled();
});

test('a function as the option inApp is asked for each file of the code and of its source', async () => {
  const asked: string[][] = [];
  const origins: MainThread['origins'] = async (files) => {
    asked.push([...files]);
    return files.map((file) => (file.endsWith('lib.ts') ? 'app' : 'dependency'));
  };
  const find = ({ file }: GeneratedPosition) =>
    file === '/app/out.js' ? { file: '/app/lib.ts', line: 7, column: 1 } : undefined;
  const frames = [frame('run', '/app/out.js', 3), frame('main', '/app/main.js', 1)];
  await explainFrames(frames, { find }, { origins });
  expect(asked).toEqual([['/app/out.js', '/app/main.js']]);
  const all: MainThread['origins'] = async (files) => {
    asked.push([...files]);
    return files.map(() => 'app');
  };
  const { code } = await explainFrames(frames, { find }, { origins: all });
  expect(asked.slice(1)).toEqual([['/app/out.js', '/app/main.js'], ['/app/lib.ts']]);
  expect(code.code?.file).toBe('/app/lib.ts');
});

describe('code that a loader made has other text than its file', () => {
  let file: string;
  let scriptFile: string;
  beforeAll(() => {
    allowReading();
    file = makeFile('app.ts', `\ufeff${TEXT}`);
    scriptFile = makeFile('app.js', TEXT);
  });

  const placeIn = async (ofFile: string, offset: number, hasMaps: boolean, main: MainThread) => {
    const hash = frame('hash', ofFile, 4, { column: 17, offset });
    const { inSource } = await explainFrames([hash], { hasMaps }, main);
    const source = inSource[0]?.[1];
    return source && { file: source.file, line: source.line };
  };
  const moves20Lines: MainThread = {
    loader: async (positions) =>
      positions.map(({ file, line }) => ({ file, line: line + 20, column: 3 })),
  };
  const knowsNothing: MainThread = { loader: async (positions) => positions.map(() => undefined) };

  test('it is where the loader says', async () => {
    expect(await placeIn(file, OFFSET - 9, true, moves20Lines)).toEqual({ file, line: 24 });
    expect(await placeIn(scriptFile, OFFSET - 9, true, moves20Lines)).toEqual({
      file: scriptFile,
      line: 24,
    });
  });

  test('TypeScript without a map has no line', async () => {
    for (const main of [knowsNothing, {}])
      expect(await placeIn(file, OFFSET - 9, true, main)).toEqual({ file, line: undefined });
  });

  test('without maps, code of a loader has no line', async () => {
    for (const its of [file, scriptFile])
      expect(await placeIn(its, OFFSET - 9, false, moves20Lines)).toEqual({
        file: its,
        line: undefined,
      });
  });

  test.each([true, false])('other code keeps it (maps: %s)', async (hasMaps) => {
    for (const its of [file, scriptFile])
      expect(await placeIn(its, OFFSET, hasMaps, moves20Lines)).toBeUndefined();
  });
});
