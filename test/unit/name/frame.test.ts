import vm from 'node:vm';
import type { StackFrame } from '../../../src/block.ts';
import { toFrame, toFrames } from '../../../src/core/explain/name/frame.ts';

const isOwn = () => false;

/** The stack of its caller. */
function captureStack(): StackFrame[] {
  const { prepareStackTrace } = Error;
  Error.prepareStackTrace = (_error, sites) => sites;
  const holder = {} as { stack: NodeJS.CallSite[] };
  Error.captureStackTrace(holder, captureStack);
  const sites = holder.stack;
  Error.prepareStackTrace = prepareStackTrace as NonNullable<typeof Error.prepareStackTrace>;
  return sites.map((site) => toFrame(site, isOwn));
}

test('has the file of a template, which its engine has put in quotes', () => {
  for (const file of ['/app/list.ejs', 'C:\\app\\list.ejs']) {
    const source = `return (() => capture())();\n//# sourceURL=${JSON.stringify(file)}`;
    const frames = new Function('capture', source)(captureStack) as StackFrame[];
    expect(frames[0]?.file).toBe(file);
  }
});

test('has name, file, line and column', () => {
  function here() {
    return captureStack();
  }
  const [frame, caller] = here();
  expect(frame).toMatchObject({
    functionName: 'here',
    file: __filename,
    isAsync: false,
    isOwn: false,
  });
  expect(frame?.text).toMatch(/^here \(.+frame\.test\.ts:\d+:\d+\)$/);
  expect(frame?.line).toBeLessThan(caller?.line ?? 0);
});

test('code of V8, evaluated code and files are three things', () => {
  const [inMap] = [1].map(() => captureStack());
  expect(inMap?.[0]).toMatchObject({ isBuiltin: false, isEvaluated: false });
  expect(inMap?.[1]).toMatchObject({
    functionName: 'Array.map',
    isBuiltin: true,
    isEvaluated: false,
  });
});

type Evaluated = (run: () => StackFrame[]) => StackFrame[];
test.each<[string, Evaluated]>([
  ['new Function', new Function('run', 'return run()') as Evaluated],
  ['vm.compileFunction', vm.compileFunction('return run()', ['run']) as Evaluated],
  ['a vm script', (run) => vm.runInNewContext('run()', { run })],
  ['a vm script of an empty name', (run) => vm.runInNewContext('run()', { run }, '')],
])('text that is evaluated by %s has no file', (_, evaluated) => {
  const text = { file: undefined, isBuiltin: false, isEvaluated: true };
  expect(evaluated(() => captureStack())[1]).toMatchObject(text);
});

test.each([
  [1, 30, true],
  [1, 43, true],
  [1, 70, false],
  [1, 29, false],
  [2, 30, false],
])(
  'at line %i, column %i of a function that begins at 1:30 it is at its entry: %s',
  (line, column, is) => {
    const site = {
      getFileName: () => '/app/a.js',
      getScriptNameOrSourceURL: () => '/app/a.js',
      getLineNumber: () => line,
      getColumnNumber: () => column,
      getEnclosingLineNumber: () => 1,
      getEnclosingColumnNumber: () => 30,
      getFunctionName: () => 'run',
      getMethodName: () => null,
      isConstructor: () => false,
      isAsync: () => false,
      toString: () => 'run (/app/a.js)',
    };
    expect(toFrame(site as never, isOwn).isAtEntry).toBe(is);
  },
);

describe('of a deep stack', () => {
  const LIBRARY = '/app/node_modules/lib/index.js';
  const site = (line: number, file: string) =>
    ({
      getFileName: () => file,
      getScriptNameOrSourceURL: () => file,
      getLineNumber: () => line,
      getColumnNumber: () => 1,
      getFunctionName: () => 'run',
      getMethodName: () => null,
      isConstructor: () => false,
      toString: () => `run (${file}:${line}:1)`,
    }) as never;
  const stack = (depth: number, fileOf: (line: number) => string = () => LIBRARY) =>
    toFrames(
      Array.from({ length: depth }, (_, i) => site(i + 1, fileOf(i + 1))),
      isOwn,
    );
  const texts = (frames: { line: number | undefined; text: string }[]) =>
    frames.map(({ line, text }) => line ?? text);

  test('as is the outermost function of a package that another has called', () => {
    const deep = stack(500, (line) =>
      line > 300 ? LIBRARY : `/app/node_modules/@scope/other/${line}.js`,
    );
    expect(texts(deep.slice(63, 67))).toEqual([
      64,
      '... 235 more frames ...',
      300,
      '... 168 more frames ...',
    ]);
  });

  test('of its recursion in the middle some frames at either end are kept', () => {
    const deep = stack(1000, () => '/app/a.js');
    expect(deep).toHaveLength(64 + 16 + 1 + 16 + 32);
    expect(texts(deep.slice(79, 82))).toEqual([80, '... 872 more frames ...', 953]);
  });
});

describe('text of megabytes', () => {
  const LONG = 'n'.repeat(1e6);
  const framesIn = (source: string) =>
    (new Function('capture', source)(captureStack) as StackFrame[])[0] as StackFrame;

  test('a name keeps its start', () => {
    const named = () => captureStack();
    Object.defineProperty(named, 'name', { value: `render${LONG}` });
    const [frame] = named() as [StackFrame];
    expect(frame.functionName).toBe(`${'render'.padEnd(255, 'n')}…`);
    expect(frame.text).toBe(`${frame.functionName} (${frame.file}:${frame.line}:${frame.column})`);
  });

  test.each([
    [`/app/${LONG}/views/list.js`, `${'/views/list.js'.padStart(4095, 'n')}`.replace(/^/, '…')],
    [`data:text/javascript,${LONG}`, `${'data:text/javascript,'.padEnd(127, 'n')}…`],
    [`/app/${'n'.repeat(4000)}/list.js`, `/app/${'n'.repeat(4000)}/list.js`],
  ])('a file keeps what says most: %#', (url, file) => {
    const frame = framesIn(`return (() => capture())();\n//# sourceURL=${url}`);
    expect(frame.file).toBe(file);
    expect(frame.text.length).toBeLessThanOrEqual(256 + 4096);
  });
});
