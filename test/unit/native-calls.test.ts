import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { runInNewContext } from 'node:vm';
import { buildSync } from 'esbuild';
import type { StackFrame } from '../../src/block.ts';
import {
  beginCall,
  endCall,
  type LongCall,
  setSize,
  takeNativeCall,
} from '../../src/core/record/native/call-stack.ts';
import { NativeCalls } from '../../src/core/record/native/native-calls.ts';
import type { Faults } from '../../src/otel/diag-once.ts';

/**
 * Bundled, and loaded outside jest's realm: modules of Node.js are wrapped by code of their own
 * realm only.
 */
const folder = mkdtempSync(path.join(tmpdir(), 'native-calls-'));
const bundled = path.join(folder, 'native-calls.cjs');
const bundledForImport = path.join(folder, 'native-calls.mjs');

type Loaded = typeof import('../../src/core/record/native/native-calls.ts') &
  typeof import('../../src/core/record/native/call-stack.ts') &
  typeof import('../../src/support/copies.ts');

let outside: Loaded;
let nodeRequire: NodeJS.Require;
/** Built-ins of the main realm. */
let main: {
  JSON: typeof JSON;
  structuredClone: typeof structuredClone;
  TextDecoder: typeof TextDecoder;
  WebAssembly: object;
  SyntaxError: typeof SyntaxError;
  String: typeof String;
  process: { getBuiltinModule(id: string): typeof import('node:module') };
};
const errors: unknown[] = [];
const onError = (error: unknown) => errors.push(error);
const faults: Faults = {};
let calls: NativeCalls;

beforeAll(() => {
  const options = {
    stdin: {
      // As the whole package: what is between the first module and the last line is its own code.
      contents: `
        import { markEndOfOwnCode } from '../../src/core/sample/own-code.ts';
        export * from '../../src/core/record/native/native-calls.ts';
        export * from '../../src/core/record/native/call-stack.ts';
        export * from '../../src/support/copies.ts';
        markEndOfOwnCode((whereAmI) => whereAmI());`,
      resolveDir: __dirname,
    },
    bundle: true,
    platform: 'node',
    banner: { js: "'use strict';" },
    target: 'node20.18',
  } as const;
  buildSync({ ...options, outfile: bundled, format: 'cjs' });
  buildSync({ ...options, outfile: bundledForImport, format: 'esm' });
  // jest's own `require` and `process` lead back into its realm; a function of Node.js does not.
  main = (readFileSync.constructor as FunctionConstructor)('return globalThis')() as typeof main;
  nodeRequire = main.process.getBuiltinModule('node:module').createRequire(bundled);
  outside = nodeRequire(bundled) as Loaded;
});

afterAll(() => rmSync(folder, { recursive: true }));

beforeEach(() => {
  errors.length = 0;
  calls = new outside.NativeCalls();
});

afterEach(() => {
  calls.disable();
  expect(errors).toEqual([]);
  expect(outside.callStack.depth).toBe(0);
});

/** All that is wrapped, as it is now. */
function properties() {
  const crypto = nodeRequire('node:crypto');
  const holders = [
    main.JSON,
    main,
    ...['v8', 'fs', 'crypto', 'zlib', 'child_process', 'vm', 'module'].map((name) =>
      nodeRequire(`node:${name}`),
    ),
    main.WebAssembly,
    ...[main.TextDecoder, Buffer, crypto.Hash, crypto.Hmac, crypto.Cipheriv].map(
      (type) => type.prototype,
    ),
    main.String.prototype,
  ];
  return holders.flatMap((holder: object, i) =>
    Reflect.ownKeys(holder).map((key) => {
      const descriptor = Object.getOwnPropertyDescriptor(holder, key) as PropertyDescriptor;
      return { holder, name: `${i} ${String(key)}`, key, descriptor };
    }),
  );
}

describe('what a wrapper keeps', () => {
  test('attributes, name, length, own properties and prototype of everything that is wrapped', () => {
    const before = properties();
    calls.enable(onError);
    const after = new Map(properties().map((property) => [property.name, property.descriptor]));

    const wrapped = before.filter(
      ({ name, descriptor: { value } }) =>
        typeof value === 'function' && after.get(name)?.value !== value,
    );
    expect(wrapped.length).toBeGreaterThanOrEqual(50);
    for (const { name, descriptor } of wrapped) {
      const { value: wrapper, ...attributes } = after.get(name) as PropertyDescriptor;
      const { value: original, ...wanted } = descriptor;
      expect({ name, ...attributes }).toEqual({ name, ...wanted });
      expect(Reflect.ownKeys(wrapper).sort()).toEqual(Reflect.ownKeys(original).sort());
      for (const key of Reflect.ownKeys(original)) {
        expect(Object.getOwnPropertyDescriptor(wrapper, key)).toEqual(
          Object.getOwnPropertyDescriptor(original, key),
        );
      }
      expect(Object.getPrototypeOf(wrapper)).toBe(Object.getPrototypeOf(original));
    }
  });

  test('disable() puts back the very properties that were there', () => {
    const before = properties();
    calls.enable(onError);
    calls.disable();
    for (const { holder, key, descriptor } of before) {
      expect(Object.getOwnPropertyDescriptor(holder, key)?.value).toBe(descriptor.value);
      expect(Object.getOwnPropertyDescriptor(holder, key)).toEqual(descriptor);
    }
  });

  describe('while wrappers are kept', () => {
    beforeEach(() => {
      outside.copies().areWrappersKept = true;
    });
    afterEach(() => {
      outside.copies().areWrappersKept = false;
    });

    test('disable() puts back nothing, and all is put back later', () => {
      const { parse } = main.JSON;
      calls.enable(onError);
      const wrapper = main.JSON.parse;
      calls.disable();
      expect(main.JSON.parse).toBe(wrapper);
      outside.putBackKeptWrappers();
      expect(main.JSON.parse).toBe(parse);
    });

    test('another copy that is enabled meanwhile wraps the originals, and puts them back', () => {
      const { parse } = main.JSON;
      calls.enable(onError);
      calls.disable();
      const other = new outside.NativeCalls();
      other.enable(onError);
      expect(main.JSON.parse).not.toBe(parse);
      outside.copies().areWrappersKept = false;
      other.disable();
      expect(main.JSON.parse).toBe(parse);
    });
  });

  test('results and errors', () => {
    const { JSON: json, structuredClone: clone } = main;
    const fs = nodeRequire('node:fs') as typeof import('node:fs');
    const crypto = nodeRequire('node:crypto') as typeof import('node:crypto');
    const zlib = nodeRequire('node:zlib') as typeof import('node:zlib');
    const v8 = nodeRequire('node:v8') as typeof import('node:v8');
    const childProcess = nodeRequire('node:child_process') as typeof import('node:child_process');
    const long = `"${'x'.repeat(1000)}"`;
    const attempt = (action: () => unknown) => {
      try {
        return { result: action() };
      } catch (error) {
        return { error: String(error) };
      }
    };
    const actions: (() => unknown)[] = [
      () => json.parse('{"a":[1,2]}'),
      () => json.parse(long),
      () =>
        json.parse('{"a":[1,2]}', (_key, value) => (typeof value === 'number' ? value * 2 : value)),
      () => json.parse(Buffer.from('[1]') as never),
      () => json.parse(`[${long}`),
      () => json.parse('{'),
      () => (json.parse as () => unknown)(),
      () => json.stringify({ a: 1, b: [2] }),
      () => json.stringify({ a: 1, b: 2 }, ['b']),
      () => json.stringify({ a: 1, b: [2] }, undefined, 2),
      () => json.stringify(undefined),
      () => json.stringify(1732800000000),
      () => json.stringify('text', undefined, 2),
      () => json.stringify(long),
      () => json.stringify(5, (_key, value) => [value]),
      () => json.parse(1732800000000 as never),
      () => json.stringify(1n),
      () => clone({ a: new Date(0), b: new Map([[1, 2]]) }),
      () => clone(() => {}),
      () => (clone as () => unknown)(),
      () => clone(new ArrayBuffer(8), { transfer: [] }).byteLength,
      () => fs.readFileSync(__filename, 'utf8').length,
      () => fs.readFileSync('/nowhere'),
      () => fs.readdirSync(__dirname),
      () => v8.deserialize(v8.serialize({ a: [1, 'b'] })),
      () => crypto.createHash('sha256').update('a').update(Buffer.from(long)).digest('hex'),
      () => crypto.createHash('sha256').update('616161', 'hex').digest('hex'),
      () => crypto.createHash('sha256').update(7 as never),
      () => crypto.createHmac('sha256', 'k').update(long).digest('hex'),
      () => crypto.randomBytes(8).length,
      () => crypto.pbkdf2Sync('a', 'b', 10, 16, 'sha256').toString('hex'),
      () => zlib.gunzipSync(zlib.gzipSync(long)).toString(),
      () => childProcess.execFileSync(process.execPath, ['-p', '1'], { encoding: 'utf8' }),
      () => Buffer.from(long).toString(),
      () => Buffer.from(long).toString('hex', 2, 6),
      () => Buffer.from(long).toString('latin1', -3, 2),
      () => Buffer.from(long).toString('latin1', 990, Number.POSITIVE_INFINITY),
      () => Buffer.from(long).toString('latin1', Number.NaN, 4),
      () => Buffer.from(long).toString('latin1', 1.7, 3.2),
      () => Buffer.from(long).toString('latin1', 2000, 9),
      () => Buffer.from(long).toString('latin1', '990' as never, '995' as never),
      () => Buffer.prototype.toString.call(undefined as never, 'hex', 0, 2),
      () => Buffer.from(long).toString('utf8', 900),
      () => Buffer.from('häß').toString(undefined, 1),
      () => Buffer.from('ab').toString('none' as never),
      () => Buffer.prototype.toString.call(undefined as never, 'hex').length,
      () => new main.TextDecoder().decode(Buffer.from(long)),
      () => new main.TextDecoder().decode(),
      () => new main.TextDecoder('utf8', { fatal: true }).decode(Buffer.alloc(400, 0xff)),
      () => new (json.parse as unknown as new () => unknown)(),
    ];
    const wanted = actions.map(attempt);
    calls.enable(onError, { entered() {}, left() {}, faults });
    // `Cannot read properties of undefined` names the property that is read first.
    const plain = (outcome: unknown) =>
      String(JSON.stringify(outcome)).replace(/ \(reading .*\)/, '');
    actions.forEach((action, i) => {
      expect(`${i} ${plain(attempt(action))}`).toBe(`${i} ${plain(wanted[i])}`);
    });
  });
});

describe('the call in progress', () => {
  test('is published while it lasts, nested calls included, and put back by a throw', () => {
    calls.enable(onError);
    const { JSON: json } = main;
    const observed: unknown[] = [];
    const published = () => {
      return { ...outside.callInProgress(), depth: outside.callStack.depth };
    };
    const inner = `[${'1,'.repeat(200)}1]`;
    json.parse('[1]'.padEnd(300), function (this: unknown, key, value) {
      if (key !== '0') return value;
      observed.push(published());
      json.stringify([{ toJSON: () => observed.push(published()) }, 1]);
      expect(() => json.parse(inner.slice(1))).toThrow();
      observed.push(published());
      return value;
    });
    expect(observed).toEqual([
      { name: 'JSON.parse', size: 300, depth: 1 },
      { name: 'JSON.stringify', size: 2, depth: 2 },
      { name: 'JSON.parse', size: 300, depth: 1 },
    ]);
  });

  test('is no JSON.stringify of a primitive, which takes no time', () => {
    calls.enable(onError);
    const nameIn = (value: unknown) => {
      let name: string | undefined;
      main.JSON.stringify(value, (_key, inner) => {
        name ??= outside.callInProgress().name;
        return inner;
      });
      return name;
    };
    for (const value of [1, 1e12, true, null, undefined, 'text']) expect(nameIn(value)).toBe('');
    for (const value of [{}, [], 'x'.repeat(300)]) expect(nameIn(value)).toBe('JSON.stringify');
  });

  test('is the function that the code names, if Node.js calls one of them from another', () => {
    const fs = nodeRequire('node:fs') as typeof import('node:fs');
    const file = path.join(folder, 'appended');
    const observed: string[] = [];
    const { writeSync } = fs;
    // Below the wrapper of `writeSync`.
    fs.writeSync = ((...args: Parameters<typeof writeSync>) => {
      observed.push(outside.callInProgress().name);
      return writeSync(...args);
    }) as typeof writeSync;
    try {
      calls.enable(onError);
      fs.writeSync(fs.openSync(file, 'w'), 'x');
      fs.appendFileSync(file, Buffer.from('x'));
    } finally {
      calls.disable();
      fs.writeSync = writeSync;
    }
    expect(observed[0]).toBe('fs.writeSync');
    for (const name of observed.slice(1)) expect(name).toBe('fs.appendFileSync');
  });

  test('a sample is of it only if no other code was called by it', () => {
    const frame = (fields: Partial<StackFrame>): StackFrame => ({
      functionName: 'f',
      file: '/app.js',
      line: 1,
      column: 1,
      functionLine: 1,
      functionColumn: 1,
      isAsync: false,
      isOwn: false,
      isAtEntry: false,
      isEvaluated: false,
      isBuiltin: false,
      text: '',
      ...fields,
    });
    const own = frame({ isOwn: true });
    const user = frame({});
    const node = frame({ file: 'node:zlib' });
    const native = frame({ file: undefined, isBuiltin: true });
    const evaluated = frame({ file: undefined, isEvaluated: true });
    const callback = frame({ isAtEntry: true });
    const depth = beginCall('JSON.parse', 7);
    try {
      const parse = { name: 'JSON.parse', size: 7 };
      expect(takeNativeCall()([own, own, user], false)).toEqual(parse);
      expect(takeNativeCall()([node, native, own, user], false)).toEqual(parse);
      expect(takeNativeCall()([user, native, own, user], false)).toBeUndefined();
      expect(takeNativeCall()([evaluated, native, own, user], false)).toBeUndefined();
      expect(takeNativeCall()([callback, native, own, user], false)).toBeUndefined();
      expect(takeNativeCall()([callback, native, own, user], true)).toEqual(parse);
      expect(takeNativeCall()([callback, user, own], true)).toBeUndefined();
      expect(takeNativeCall()([user], false)).toBeUndefined();
      setSize(-1);
      expect(takeNativeCall()([own], false)).toEqual({ name: 'JSON.parse', size: undefined });
    } finally {
      endCall(depth, undefined);
    }
    expect(takeNativeCall()([own, user], false)).toBeUndefined();
  });
});

describe('calls that are known to be long', () => {
  test('are announced with their call site, and left however they end', () => {
    const log: [string, string, number | undefined, string | undefined][] = [];
    const note = (what: string) => (call: LongCall) =>
      log.push([what, call.name, call.size, call.frames[0]?.functionName]);
    calls.enable(onError, { entered: note('entered'), left: note('left'), faults });
    const childProcess = nodeRequire('node:child_process') as typeof import('node:child_process');
    const text = ' '.repeat(1 << 21);
    function parseSomething() {
      return main.JSON.parse(`${text}1`);
    }
    function runNothing() {
      return childProcess.execFileSync('/nowhere');
    }
    parseSomething();
    expect(() => main.JSON.parse(text)).toThrow();
    expect(runNothing).toThrow('ENOENT');
    main.JSON.parse(text.slice(2).concat('1'));

    expect(log.slice(0, 2)).toEqual([
      ['entered', 'JSON.parse', 2 ** 21 + 1, 'parseSomething'],
      ['left', 'JSON.parse', 2 ** 21 + 1, 'parseSomething'],
    ]);
    expect(log.slice(4)).toEqual([
      ['entered', 'child_process.execFileSync', undefined, 'runNothing'],
      ['left', 'child_process.execFileSync', undefined, 'runNothing'],
    ]);
  });

  test('are not those of a number, or of a small part of a large buffer', () => {
    const log: unknown[] = [];
    calls.enable(onError, {
      entered: ({ name, size }) => log.push([name, size]),
      left() {},
      faults,
    });
    const MIB = 1 << 20;
    const { JSON: json } = main;
    expect(json.stringify(1732800000000)).toBe('1732800000000');
    expect(json.parse(1732800000000 as never)).toBe(1732800000000);
    expect(main.structuredClone(1732800000000)).toBe(1732800000000);
    json.stringify('x'.repeat(100_000));
    const large = Buffer.alloc(20 * MIB, 'x');
    const lengthOf = (start?: number, end?: number) => large.toString('latin1', start, end).length;
    expect(lengthOf(MIB, MIB + 300)).toBe(300);
    expect(lengthOf(0, 10 * MIB)).toBe(10 * MIB);
    expect(lengthOf(19 * MIB)).toBe(MIB);
    expect(log).toEqual([]);

    json.stringify('x'.repeat(5 * MIB));
    expect(lengthOf()).toBe(20 * MIB);
    expect(lengthOf(MIB)).toBe(19 * MIB);
    expect(lengthOf(-MIB, 17 * MIB)).toBe(17 * MIB);
    expect(log).toEqual([
      ['JSON.stringify', 5 * MIB],
      ['Buffer.toString', 20 * MIB],
      ['Buffer.toString', 19 * MIB],
      ['Buffer.toString', 17 * MIB],
    ]);
  });

  test('what V8 ends half-way is over when the call around it ends, and when a callback begins', () => {
    const log: string[] = [];
    calls.enable(onError, {
      entered: ({ name, depth }) => log.push(`entered ${name} at ${depth}`),
      left: ({ name, depth }) => log.push(`left ${name} at ${depth}`),
      emptied: () => log.push('emptied'),
      faults,
    });
    const { pbkdf2Sync } = nodeRequire('node:crypto') as typeof import('node:crypto');
    const endHalfWay = () => {
      const run = () => pbkdf2Sync('password', 'salt', 500_000, 64, 'sha512');
      // Long enough to be inside it by then, also on a busy machine.
      expect(() => runInNewContext('run()', { run }, { timeout: 80 })).toThrow('timed out');
    };
    main.JSON.parse('[1]'.padEnd(300), () => endHalfWay());
    expect(outside.callStack.depth).toBe(0);

    endHalfWay();
    expect(outside.callInProgress().name).toBe('crypto.pbkdf2Sync');
    expect(outside.callStack.depth).toBe(1);
    outside.emptyCallStack();
    expect(outside.callInProgress().name).toBe('');
    expect(log).toEqual([
      'entered crypto.pbkdf2Sync at 1',
      'entered crypto.pbkdf2Sync at 2',
      'entered crypto.pbkdf2Sync at 0',
      'emptied',
    ]);
  });

  test('a listener that throws changes nothing', () => {
    calls.enable(onError, {
      entered: () => {
        throw new Error('entered');
      },
      left: () => {
        throw new Error('left');
      },
      faults,
    });
    const text = `${' '.repeat(1 << 21)}1`;
    expect(main.JSON.parse(text)).toBe(1);
    expect(faults).toEqual({ inHook: new Error('entered') });
    faults.inHook = undefined;
  });
});

test('node:sqlite is wrapped when the application has loaded it, and is not loaded for that', () => {
  const { moduleLoadList } = main.process as unknown as { moduleLoadList: readonly string[] };
  calls.enable(onError);
  calls.followSqlite();
  expect(moduleLoadList).not.toContain('NativeModule sqlite');
  const { isBuiltin } = nodeRequire('node:module') as typeof import('node:module');
  // Since Node.js 22.13, without a flag.
  if (!isBuiltin('node:sqlite')) return;

  const { DatabaseSync, StatementSync } = nodeRequire('node:sqlite');
  const original = Object.getOwnPropertyDescriptor(StatementSync.prototype, 'all');
  calls.followSqlite();
  const database = new DatabaseSync(':memory:');
  const observed: string[] = [];
  database.function('observe', (row: number) => {
    observed.push(outside.callInProgress().name);
    return row;
  });
  database.exec('create table t as select observe(1) as n');
  database.prepare('select observe(n) from t').all();
  database.prepare('select observe(n) from t').get();
  database.prepare('insert into t select observe(2)').run();
  for (const _row of database.prepare('select observe(n) from t').iterate());
  expect([...new Set(observed)]).toEqual([
    'node:sqlite.Database.exec',
    'node:sqlite.Statement.all',
    'node:sqlite.Statement.get',
    'node:sqlite.Statement.run',
    'node:sqlite.Statement.iterate',
  ]);
  calls.disable();
  expect(Object.getOwnPropertyDescriptor(StatementSync.prototype, 'all')).toEqual(original);
});

test('a class that is wrapped is the same to whoever uses it', () => {
  const module = nodeRequire('node:vm') as typeof import('node:vm');
  const { Script } = module;
  const before = new Script('1');
  calls.enable(onError);
  const after = new module.Script('2', { filename: 'two.js' });
  expect(after.runInThisContext()).toBe(2);
  expect(before).toBeInstanceOf(module.Script);
  expect(after).toBeInstanceOf(Script);
  expect(after.constructor).toBe(module.Script);
  class Own extends module.Script {}
  expect(new Own('3')).toBeInstanceOf(Own);
  expect(new Own('3').runInThisContext()).toBe(3);
  expect(() => new module.Script('no script')).toThrow(main.SyntaxError);
  calls.disable();
  expect(module.Script).toBe(Script);
  expect(after.constructor).toBe(Script);
});

describe('native add-ons', () => {
  const salt = (rounds: string) => `$2b$${rounds}$${'x'.repeat(22)}`;

  /** As better-sqlite3 has them: classes whose methods are found on every call. */
  function makeDatabaseAddOn(observed: string[]) {
    const note = function (this: unknown) {
      observed.push(outside.callInProgress().name);
      return this;
    };
    const withMethods = (...names: string[]) => {
      const Class = class {};
      for (const name of names) {
        const method = { [name]: (...args: []) => note.apply(args) }[name];
        const descriptor = { value: method, writable: true, enumerable: true, configurable: true };
        Object.defineProperty(Class.prototype, name, descriptor);
      }
      return Class as new () => Record<string, () => unknown>;
    };
    const exports = {
      Database: withMethods('exec', 'close'),
      Statement: withMethods('run', 'get', 'all', 'iterate', 'bind'),
      StatementIterator: withMethods('next'),
    };
    return inMainRealm(exports);
  }

  /** Add-ons have the prototypes of the realm that has loaded them. */
  function inMainRealm<Exports extends object>(exports: Exports): Exports {
    const { prototype } = (main as unknown as { Object: ObjectConstructor }).Object;
    Object.setPrototypeOf(exports, prototype);
    for (const Class of Object.values(exports)) {
      if (typeof Class.prototype === 'object') Object.setPrototypeOf(Class.prototype, prototype);
    }
    return exports;
  }

  /** `process.dlopen` that loads nothing, before it is wrapped. */
  function stubLoading(): { load(exports: object): void; putBack(): void } {
    const { process } = main as unknown as { process: NodeJS.Process };
    const pristine = process.dlopen;
    process.dlopen = () => {};
    return {
      load: (exports) => process.dlopen({ exports }, '/app/any.node'),
      putBack: () => {
        expect(process.dlopen.name).toBe('');
        process.dlopen = pristine;
      },
    };
  }

  test('known by what they export, when loaded before and when loaded later', () => {
    const observed: string[] = [];
    const before = makeDatabaseAddOn(observed);
    const later = makeDatabaseAddOn(observed);
    const { load, putBack } = stubLoading();
    nodeRequire.cache['/app/build/Release/anything.node'] = { exports: before } as NodeModule;
    try {
      const { all } = before.Statement.prototype;
      const { all: allLater } = later.Statement.prototype;
      calls.enable(onError);
      load(later);
      load(later);
      for (const { Database, Statement, StatementIterator } of [before, later]) {
        new Database()['exec']?.();
        const statement = new Statement();
        for (const name of ['run', 'get', 'all', 'iterate', 'bind']) statement[name]?.();
        new StatementIterator()['next']?.();
      }
      calls.disable();
      expect(before.Statement.prototype.all).toBe(all);
      expect(later.Statement.prototype.all).toBe(allLater);
      new later.Statement()['all']?.();
    } finally {
      putBack();
      delete nodeRequire.cache['/app/build/Release/anything.node'];
    }
    const each = ['exec', 'run', 'get', 'all', 'iterate', 'bind', 'next'];
    const names = {
      exec: 'better-sqlite3.Database.exec',
      bind: '',
      next: 'better-sqlite3.Statement.iterate',
    };
    const wanted = each.map(
      (name) => names[name as keyof typeof names] ?? `better-sqlite3.Statement.${name}`,
    );
    expect(observed).toEqual([...wanted, ...wanted, '']);
  });

  test('bcrypt is long from 8 rounds on, which its salt says', () => {
    const entered: string[] = [];
    const addOn = inMainRealm({
      encrypt_sync: (_data: string, _salt: string) => 'hash',
      compare_sync: (_data: string, _hash: string) => true,
      gen_salt_sync: () => salt('10'),
    });
    const { gen_salt_sync } = addOn;
    nodeRequire.cache['/app/bcrypt.node'] = { exports: addOn } as NodeModule;
    try {
      calls.enable(onError, { entered: ({ name }) => entered.push(name), left() {}, faults });
    } finally {
      delete nodeRequire.cache['/app/bcrypt.node'];
    }
    expect(addOn.gen_salt_sync).toBe(gen_salt_sync);
    expect(addOn.encrypt_sync('secret', salt('07'))).toBe('hash');
    expect(addOn.encrypt_sync('secret', salt('08'))).toBe('hash');
    expect(addOn.compare_sync('secret', salt('12'))).toBe(true);
    expect(addOn.compare_sync('secret', 'no hash')).toBe(true);
    expect(entered).toEqual(['bcrypt.hashSync', 'bcrypt.compareSync']);
  });

  test('of an unknown one, each function that it exports, but no class', () => {
    class Task {}
    const observed: string[] = [];
    const addOn = inMainRealm({
      transformSync: (text: string) => {
        observed.push(outside.callInProgress().name);
        return text;
      },
      Parser: class {
        parse() {}
      },
      Task,
      version: '1',
    });
    const { transformSync, Parser } = addOn;
    const { load, putBack } = stubLoading();
    calls.enable(onError);
    load(addOn);
    expect(addOn.transformSync('text')).toBe('text');
    expect(observed).toEqual(['any.transformSync']);
    expect(addOn.Parser).toBe(Parser);
    expect(new addOn.Task()).toBeInstanceOf(Task);
    expect(new (class extends addOn.Task {})()).toBeInstanceOf(Task);
    calls.disable();
    expect(addOn).toMatchObject({ transformSync, Parser, Task });
    putBack();
  });

  test('no getter is called; what an add-on throws goes to the log, and no further', () => {
    const { load, putBack } = stubLoading();
    calls.enable(onError);
    load({
      get encrypt_sync() {
        return fail();
      },
    });
    load({ Database: null, Statement: 1, StatementIterator: {} });
    expect(errors).toEqual([]);
    load(new Proxy({}, { getOwnPropertyDescriptor: () => fail() }));
    expect(errors.splice(0).map(String)).toEqual(['Error: trapped']);
    calls.disable();
    putBack();
  });

  test('one that cannot be loaded fails as ever', () => {
    const { process } = main as unknown as { process: NodeJS.Process };
    const pristine = process.dlopen;
    calls.enable(onError);
    expect(process.dlopen).not.toBe(pristine);
    expect(() => process.dlopen({ exports: {} }, path.join(folder, 'none.node'))).toThrow(
      'none.node',
    );
  });
});

function fail(): never {
  throw new Error('trapped');
}

describe('what others do', () => {
  test('disable() in the middle of a call', () => {
    calls.enable(onError, { entered() {}, left() {}, faults });
    const { JSON: json } = main;
    const original = json.parse;
    const result = json.parse('[1,2]', (_key, value) => {
      calls.disable();
      return value;
    });
    expect(result).toEqual([1, 2]);
    expect(json.parse).not.toBe(original);
    expect(json.parse('[1]')).toEqual([1]);
  });

  test("jest's realm: its own built-ins are wrapped, those it shares with others are not", () => {
    const inside = new NativeCalls();
    const { parse } = JSON;
    const { readFileSync } = nodeRequire('node:fs');
    inside.enable(onError);
    expect(JSON.parse).not.toBe(parse);
    expect(nodeRequire('node:fs').readFileSync).toBe(readFileSync);
    expect(JSON.parse(`[${' '.repeat(300)}1]`)).toEqual([1]);
    inside.disable();
    expect(JSON.parse).toBe(parse);
  });
});

/** Runs this as an ES module in a process of its own, beside the bundle for `build`. */
function run(source: string, build: string, ...nodeArgs: string[]): unknown {
  const file = path.join(folder, 'script.mjs');
  const bundle = build === 'import' ? bundledForImport : bundled;
  writeFileSync(file, source.replace('./BUNDLE', pathToFileURL(bundle).href));
  return JSON.parse(
    execFileSync(process.execPath, ['--no-warnings', ...nodeArgs, file], { encoding: 'utf8' }),
  );
}

test.each(['require', 'import'])(
  'named imports of modules of Node.js follow: build for `%s`',
  (build) => {
    const source = `
    import { readFileSync } from 'node:fs';
    import * as native from './BUNDLE';
    const calls = new native.NativeCalls();
    const before = readFileSync;
    calls.enable(console.error);
    const during = readFileSync;
    calls.disable();
    console.log(JSON.stringify([during !== before, during.name, readFileSync === before]));
  `;
    expect(run(source, build)).toEqual([true, 'readFileSync', true]);
  },
);

test.each(['require', 'import'])(
  'who imports a module after another package has changed it gets the change: build for `%s`',
  (build) => {
    const source = `
    import { createRequire } from 'node:module';
    import * as native from './BUNDLE';
    const childProcess = createRequire(import.meta.url)('node:child_process');
    childProcess.execFileSync = () => 'theirs';
    new native.NativeCalls().enable(console.error);
    const later = 'data:text/javascript,export { execFileSync } from "node:child_process"';
    const { execFileSync } = await import(later);
    console.log(JSON.stringify(execFileSync()));
  `;
    expect(run(source, build)).toBe('theirs');
  },
);

test('what others have put on a module is published once by enable(), and once by disable()', () => {
  const source = `
    import os, { hostname } from 'node:os';
    import fs, { existsSync, readFileSync } from 'node:fs';
    import * as native from './BUNDLE';
    const calls = new native.NativeCalls();
    const pristine = [hostname, readFileSync];
    let reads = 0;
    const stub = { get: () => (reads++, () => 'stub'), configurable: true, enumerable: true };
    Object.defineProperty(os, 'hostname', stub);
    fs.readFileSync = () => 'stub';
    const before = [hostname === pristine[0], readFileSync === pristine[1]];
    calls.enable(console.error);
    const during = [hostname(), readFileSync(), readFileSync === fs.readFileSync, reads];
    calls.disable();
    calls.followSqlite();
    const after = [readFileSync(), readFileSync === fs.readFileSync, reads];
    console.log(JSON.stringify([before, during, after]));
  `;
  expect(run(source, 'import')).toEqual([
    [true, true],
    ['stub', 'stub', true, 1],
    ['stub', true, 2],
  ]);
});

test('line and column of a long call are those of the call itself', () => {
  const source = `import native from './BUNDLE';
    const places = [];
    const note = ({ frames: [{ line, column }] }) => places.push([line, column]);
    new native.NativeCalls().enable(console.error, { entered: note, left: note, faults: {} });
    const list = new Array(50_000).fill(0);
    function write() {
      return [1].map(() =>
        JSON.stringify(list));
    }
    write();
    console.log(JSON.stringify(places));`;
  expect(run(source, 'require')).toEqual([
    [8, 14],
    [8, 14],
  ]);
});
