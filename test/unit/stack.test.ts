import vm from 'node:vm';
import { captureStack, takeStack } from '../../src/core/sample/stack.ts';

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

describe('with any change of Error', () => {
  const descriptors = Object.getOwnPropertyDescriptors(Error);
  const KEYS = ['prepareStackTrace', 'stackTraceLimit'] as const;
  afterEach(() => {
    for (const key of KEYS) {
      if (descriptors[key] === undefined) Reflect.deleteProperty(Error, key);
      else Object.defineProperty(Error, key, { configurable: true, ...descriptors[key] });
    }
  });

  const thrower = () => {
    throw new Error('theirs');
  };
  const plain = (value: unknown) => ({
    value,
    writable: true,
    enumerable: false,
    configurable: true,
  });
  const accessor = { get: thrower, set: thrower, enumerable: true, configurable: true };
  const constant = (value: unknown) => ({ ...plain(value), writable: false });

  test.each([
    ['plain properties', plain(thrower), plain(0), true],
    ['a limit that is no number', plain(undefined), plain('all'), true],
    ['constants', constant(thrower), constant(0), false],
    ['accessors that throw', accessor, accessor, false],
    ['nothing', undefined, undefined, true],
  ])('%s: neither noticed nor changed', (_what, prepare, limit, isSeen) => {
    for (const [key, descriptor] of [
      [KEYS[0], prepare],
      [KEYS[1], limit],
    ] as const) {
      Reflect.deleteProperty(Error, key);
      if (descriptor !== undefined) Object.defineProperty(Error, key, descriptor);
    }
    const frames = captureStack();
    const after = KEYS.map((key) => Object.getOwnPropertyDescriptor(Error, key));
    expect(after).toEqual([prepare, limit]);
    expect(frames.length > 3).toBe(isSeen);
    expect(frames[0]?.file).toBe(isSeen ? __filename : undefined);
  });

  test('another global Error: none of its properties is used', () => {
    const global = Object.getOwnPropertyDescriptor(globalThis, 'Error') as PropertyDescriptor;
    const own = { prepareStackTrace: jest.fn(), stackTraceLimit: 0 };
    Object.defineProperty(Error, KEYS[0], plain(thrower));
    Object.defineProperty(globalThis, 'Error', { ...global, value: own });
    const frames = captureStack();
    Object.defineProperty(globalThis, 'Error', global);
    expect(frames).toEqual([]);
    expect(own.prepareStackTrace).not.toHaveBeenCalled();
    expect(own.stackTraceLimit).toBe(0);
  });

  test('a stack whose reading V8 ends half-way: errors have their stacks as before', () => {
    const original = (error: Error) => `stack of ${error.message}`;
    Object.defineProperty(Error, 'prepareStackTrace', plain(original));
    // As a reading leaves it behind that `vm` ends after its timeout: no `finally` has run.
    let ownPrepare: unknown;
    captureStack();
    const spy = jest.spyOn(Array, 'isArray').mockImplementationOnce(() => {
      ownPrepare = Error.prepareStackTrace;
      return true;
    });
    captureStack();
    spy.mockRestore();
    expect(ownPrepare).not.toBe(original);
    Error.prepareStackTrace = ownPrepare as typeof original;

    expect(new Error('theirs').stack).toBe('stack of theirs');
    expect(Error.prepareStackTrace).toBe(original);

    // The next capture, if no error was made before it.
    Error.prepareStackTrace = ownPrepare as typeof original;
    expect(captureStack().length).toBeGreaterThan(3);
    expect(Error.prepareStackTrace).toBe(original);
  });
});

describe('whether a stack shows code that a block can be named by', () => {
  const shows = () => takeStack().showsCode();

  test('it does, of whoever is not Node.js', () => {
    expect(shows()).toBe(true);
  });

  test('it does not, if only Node.js runs', async () => {
    const shown = await new Promise((resolve) => {
      const call = vm.runInThisContext(
        '(takeStack, resolve) => setImmediate(() => resolve(takeStack().showsCode()))',
        { filename: 'node:internal/test' },
      );
      call(takeStack, resolve);
    });
    expect(shown).toBe(false);
  });
});
