import vm from 'node:vm';
import { captureStack } from '../../src/watchdog/stack.ts';

/** The frame of the function that this is called in. */
const callerFrame = () => captureStack()[1];

class Report {
  readonly frame = callerFrame();
  readonly constructed: ReturnType<typeof callerFrame>;
  constructor() {
    this.constructed = callerFrame();
  }
  run() {
    return callerFrame();
  }
  static build() {
    return callerFrame();
  }
}
const plain = {
  arrow: () => callerFrame(),
  method() {
    return callerFrame();
  },
};
function listener() {
  return callerFrame();
}

test('frames have name, file, line and column', () => {
  function here() {
    return captureStack();
  }
  const [frame, caller] = here();
  expect(frame).toMatchObject({ functionName: 'here', file: __filename, isAsync: false });
  expect(frame?.text).toMatch(/^here \(.+stack\.test\.ts:\d+:\d+\)$/);
  expect(frame?.line).toBeLessThan(caller?.line ?? 0);
});

test.each([
  ['a method', () => new Report().run(), 'Report.run'],
  ['a static method', () => Report.build(), 'Report.build'],
  ['a constructor', () => new Report().constructed, 'new Report'],
  ['a function in a plain object', () => plain.arrow(), 'arrow'],
  ['a method of a plain object', () => plain.method(), 'method'],
  [
    'a function that only runs with some `this`',
    () => listener.call(new Report() as never),
    'listener',
  ],
  [
    'a function that is called as a property of another name, as timers do',
    () => Object.assign(new Report(), { onTimeout: listener }).onTimeout(),
    'listener',
  ],
  ['a function without a name', () => (() => callerFrame())(), undefined],
])('%s is named as in a stack trace, without what says nothing', (_what, run, name) => {
  expect(run()?.functionName).toBe(name);
});

test('a caller that awaits is not running', async () => {
  async function inner() {
    await null;
    return captureStack();
  }
  async function outer() {
    return await inner();
  }
  const frames = await outer();
  expect(frames.find(({ functionName }) => functionName === 'inner')?.isAsync).toBe(false);
  expect(frames.find(({ functionName }) => functionName === 'outer')?.isAsync).toBe(true);
});

describe('with any change of Error', () => {
  const { prepareStackTrace, stackTraceLimit } = Error;
  afterEach(() => {
    Error.prepareStackTrace = prepareStackTrace as NonNullable<typeof Error.prepareStackTrace>;
    Error.stackTraceLimit = stackTraceLimit;
  });

  test('it is neither noticed nor changed', () => {
    const thrower = () => {
      throw new Error('theirs');
    };
    Error.prepareStackTrace = thrower;
    Error.stackTraceLimit = 0;
    expect(captureStack().length).toBeGreaterThan(3);
    expect(Error.prepareStackTrace).toBe(thrower);
    expect(Error.stackTraceLimit).toBe(0);
  });
});

test('frames of another realm are in it', () => {
  const run = vm.runInNewContext(
    '(function inThere(callback) { return callback(); })',
    {},
    { filename: '/there.js' },
  );
  expect(
    run(() => captureStack()).map(({ functionName }: { functionName?: string }) => functionName),
  ).toContain('inThere');
});
