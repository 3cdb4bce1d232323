/**
 * The wrapped built-in functions: one call of each can take 50 ms or more with an input that is
 * usual, and leaves nothing on the stack.
 *
 * Not wrapped:
 * - What takes less than 50 ms with any usual input: the classes and methods of `Intl`,
 *   `toLocaleString`, `hkdfSync`, `privateDecrypt`. A loop of them is named by its function.
 * - Methods of the language's prototypes, `Array`, `String`, `RegExp`, but for `normalize`.
 *   Replacing `RegExp.prototype.exec` makes every `replace` and `split` by an expression ten times
 *   slower or more, on Node.js 20 to 26, and putting it back does not undo that. A wrapped `split`
 *   of five characters takes 90 ns instead of 59 (Node.js 20).
 * - What takes nanoseconds and needs gigabytes to take long: `Buffer.byteLength`, `Buffer#indexOf`,
 *   `Buffer.concat`.
 * - What only waits for a disk in one short system call: `existsSync`, `statSync`; module loaders
 *   make thousands of them.
 */
import childProcess from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import module from 'node:module';
import v8 from 'node:v8';
import vm from 'node:vm';
import zlib from 'node:zlib';
import type { AnyFunction } from '../../../support/patch.ts';
import {
  SLOW,
  type Wrap,
  wrapConstructor,
  wrapHot,
  wrapParse,
  wrapSlow,
  wrapStringify,
  wrapToString,
  wrapWait,
} from './wrappers.ts';

export interface BuiltIn {
  readonly holder: object;
  readonly key: string;
  readonly name: string;
  readonly wrap: Wrap;
}

const KIB = 1 << 10;
const MIB = 1 << 20;

const ALWAYS = wrapSlow({ longFrom: 0 });
/** Decoding, hashing and encryption of 16 MiB take some 10 to 100 ms. */
const BYTES = wrapHot(16 * MIB);
const SIGNS = wrapSlow({ input: 1, longFrom: 16 * MIB });
/** Keys on curves take a fraction of a millisecond. */
const takesPrimes = (type: unknown) =>
  typeof type === 'string' && (type.startsWith('rsa') || type === 'dsa' || type === 'dh');
/** The input is a number of bits. */
const PRIMES = wrapSlow({ input: 0, sizeIsNone: true, longFrom: 1024 });

const MODULES = new Set<object>([childProcess, crypto, fs, module, v8, vm, zlib]);

/** Whether a holder is the exports of a module of Node.js, which may be imported by name. */
export const isModule = (holder: object) => MODULES.has(holder);

/** Resolved anew on every call: some may have been replaced, or be of another realm, since. */
export function builtIns(): BuiltIn[] {
  const all: BuiltIn[] = [
    // From these sizes on a call takes some 20 ms: rows of 80 characters, Node.js 20 to 26.
    ...ofModule(JSON, 'JSON', wrapParse(2 * MIB), 'parse'),
    // Of a text the characters say how long it takes, of an object nothing but its elements.
    ...ofModule(JSON, 'JSON', wrapStringify(50_000, 4 * MIB), 'stringify'),
    ...ofModule(globalThis, '', wrapSlow({ input: 0, longFrom: 20_000 }), 'structuredClone'),
    ...ofModule(Atomics, 'Atomics', wrapWait, 'wait'),
    ...ofModule(v8, 'v8', ALWAYS, 'getHeapSnapshot', 'queryObjects', 'writeHeapSnapshot'),
    // 13 to 23 ms for a MiB.
    ...ofModule(v8, 'v8', wrapSlow({ input: 0, longFrom: MIB }), 'deserialize'),
    ...ofModule(v8, 'v8', wrapSlow({ input: 0, longFrom: 50_000 }), 'serialize'),
    // 340 ms for a MiB.
    ...ofModule(
      module,
      'module',
      wrapSlow({ input: 0, longFrom: 64 * KIB }),
      'stripTypeScriptTypes',
    ),
    // 100 ms for a MiB, as `Script`.
    ...ofModule(vm, 'vm', wrapSlow({ input: 0, longFrom: 256 * KIB }), 'compileFunction'),
    ...ofClass(vm, 'vm', 'Script'),
    ...ofClass((globalThis as { WebAssembly?: object }).WebAssembly, 'WebAssembly', 'Module'),
    ...ofFs(wrapSlow({ longFrom: 0, within: 'fs.' }), 'cpSync'),
    ...ofFs(
      wrapSlow({ within: 'fs.' }),
      'copyFileSync',
      'fdatasyncSync',
      'fsyncSync',
      'rmSync',
      'unlinkSync',
    ),
    ...ofFs(
      wrapSlow({ sizeIsResult: true, within: 'fs.' }),
      'globSync',
      'readFileSync',
      'readdirSync',
    ),
    ...ofFs(wrapSlow({ input: 1, within: 'fs.' }), 'readSync'),
    ...ofFs(
      wrapSlow({ input: 1, longFrom: 16 * MIB, within: 'fs.' }),
      'appendFileSync',
      'writeFileSync',
      'writeSync',
    ),
    ...ofCrypto(ALWAYS, 'argon2Sync', 'scryptSync'),
    ...ofCrypto(SLOW, 'checkPrimeSync'),
    ...ofCrypto(PRIMES, 'createDiffieHellman', 'generatePrimeSync'),
    ...ofCrypto(wrapSlow({ longFrom: 0, isLong: takesPrimes }), 'generateKeyPairSync'),
    ...ofCrypto(wrapSlow({ input: 2, sizeIsNone: true, longFrom: 50_000 }), 'pbkdf2Sync'),
    ...ofCrypto(BYTES, 'randomBytes', 'randomFillSync'),
    ...ofCrypto(SIGNS, 'hash', 'sign', 'verify'),
    // More than a second for a MiB, at its default quality.
    ...ofZlib(wrapSlow({ input: 0, longFrom: 32 * KIB }), 'brotliCompressSync'),
    // 5 to 9 ms for a MiB.
    ...ofZlib(
      wrapSlow({ input: 0, longFrom: 2 * MIB }),
      'deflateRawSync',
      'deflateSync',
      'gzipSync',
      'zstdCompressSync',
    ),
    // 10 to 14 ms for a MiB of packed text.
    ...ofZlib(
      wrapSlow({ input: 0, longFrom: MIB }),
      'brotliDecompressSync',
      'gunzipSync',
      'inflateRawSync',
      'inflateSync',
      'unzipSync',
      'zstdDecompressSync',
    ),
    ...ofModule(childProcess, 'child_process', ALWAYS, 'execFileSync', 'execSync', 'spawnSync'),
    // It copies the page tables of the process. `exec`, `execFile` and `fork` call it.
    ...ofPrototype(childProcess.ChildProcess, 'child_process', 'spawn', SLOW),
    ...ofPrototype(String, 'String', 'normalize', SLOW),
    ...ofPrototype(Buffer, 'Buffer', 'toString', wrapToString(16 * MIB)),
    ...ofPrototype(globalThis.TextDecoder, 'TextDecoder', 'decode', BYTES),
    ...ofPrototype(globalThis.TextEncoder, 'TextEncoder', 'encode', BYTES),
  ];
  const { Hash, Hmac, Cipheriv, Decipheriv, Sign, Verify } = crypto as unknown as Record<
    string,
    unknown
  >;
  all.push(
    ...ofPrototype(Hash, 'Hash', 'update', BYTES),
    ...ofPrototype(Hmac, 'Hmac', 'update', BYTES),
    ...ofPrototype(Cipheriv, 'Cipher', 'update', BYTES),
    ...ofPrototype(Decipheriv, 'Decipher', 'update', BYTES),
    ...ofPrototype(Sign, 'Sign', 'update', SLOW),
    ...ofPrototype(Verify, 'Verify', 'update', SLOW),
  );
  return all;
}

function ofModule(holder: object, module: string, wrap: Wrap, ...keys: string[]): BuiltIn[] {
  const prefix = module === '' ? '' : `${module}.`;
  return keys.map((key) => ({ holder, key, name: prefix + key, wrap }));
}

/** They call one another: `appendFileSync` is a `writeFileSync` inside. */
const ofFs = (wrap: Wrap, ...keys: string[]) => ofModule(fs, 'fs', wrap, ...keys);
const ofCrypto = (wrap: Wrap, ...keys: string[]) => ofModule(crypto, 'crypto', wrap, ...keys);
const ofZlib = (wrap: Wrap, ...keys: string[]) => ofModule(zlib, 'zlib', wrap, ...keys);

/** A class; its objects have the wrapper as their constructor, too. */
function ofClass(holder: object | undefined, module: string, key: string): BuiltIn[] {
  // `--jitless` leaves WebAssembly out.
  if (holder === undefined) return [];
  const classes = holder as Record<string, AnyFunction | undefined>;
  const Class = classes[key];
  const name = `${module}.${key}`;
  return [
    { holder, key, name, wrap: wrapConstructor },
    ...ofPrototype(Class, name, 'constructor', (original) => classes[key] ?? original),
  ];
}

function ofPrototype(Class: unknown, type: string, key: string, wrap: Wrap): BuiltIn[] {
  const holder =
    typeof Class === 'function' ? (Class as { prototype: unknown }).prototype : undefined;
  if (typeof holder !== 'object' || holder === null) return [];
  return [{ holder, key, name: `${type}.${key}`, wrap }];
}
