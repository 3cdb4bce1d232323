/**
 * The wrapped built-in functions: one call of each can take 50 ms or more with an input that is
 * usual, and leaves nothing on the stack.
 *
 * Not wrapped:
 * - What takes less than 50 ms with any usual input: the classes and methods of `Intl`,
 *   `toLocaleString`, `hkdfSync`, `privateDecrypt`. A loop of them is named by its function.
 * - Methods of the language's prototypes, `Array`, `String`, `RegExp`, but for `normalize`.
 *   Replacing `RegExp.prototype.exec` makes every `replace` and `split` by an expression ten times
 *   slower or more, on Node.js 20 to 26, and putting it back does not undo that.
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
import type { AnyFunction } from '../support/patch.ts';
import {
  SLOW,
  SMALL,
  type Wrap,
  wrapConstructor,
  wrapHot,
  wrapSlow,
  wrapWait,
} from './wrappers.ts';

/** One function, where it is found, and how it is wrapped. */
export interface BuiltIn {
  readonly holder: object;
  readonly key: string;
  readonly name: string;
  readonly wrap: Wrap;
}

const KIB = 1 << 10;
const MIB = 1 << 20;

const ALWAYS = wrapSlow({ longFrom: 0 });
/** They call one another: `appendFileSync` is a `writeFileSync` inside. */
const FS = wrapSlow({ within: 'fs.' });
const READS = wrapSlow({ sizeIsResult: true, within: 'fs.' });
const WRITES = wrapSlow({ input: 1, longFrom: 16 * MIB, within: 'fs.' });
const SIGNS = wrapSlow({ input: 1, longFrom: 16 * MIB });
/** 5 to 9 ms for a MiB. */
const PACKS = wrapSlow({ input: 0, longFrom: 2 * MIB });
/** 10 to 14 ms for a MiB of packed text. */
const UNPACKS = wrapSlow({ input: 0, longFrom: MIB });
/** Decoding, hashing and encryption of 16 MiB take some 10 to 100 ms. */
const BYTES = wrapHot(16 * MIB);
/** From these sizes on a call takes some 20 ms: rows of 80 characters, Node.js 20 to 26. */
const OF_JSON: Record<string, Wrap> = {
  parse: wrapHot(2 * MIB),
  /** Nothing but the number of elements says how long it takes. */
  stringify: wrapHot(50_000, Number.NEGATIVE_INFINITY),
};
const CLONE = wrapSlow({ input: 0, longFrom: 20_000 });
/** Keys on curves take a fraction of a millisecond. */
const takesPrimes = (type: unknown) =>
  typeof type === 'string' && (type.startsWith('rsa') || type === 'dsa' || type === 'dh');

const OF_FS: Record<string, Wrap> = {
  appendFileSync: WRITES,
  copyFileSync: FS,
  cpSync: wrapSlow({ longFrom: 0, within: 'fs.' }),
  fdatasyncSync: FS,
  fsyncSync: FS,
  globSync: READS,
  readFileSync: READS,
  readSync: wrapSlow({ input: 1, within: 'fs.' }),
  readdirSync: READS,
  rmSync: FS,
  unlinkSync: FS,
  writeFileSync: WRITES,
  writeSync: WRITES,
};

const OF_CRYPTO: Record<string, Wrap> = {
  argon2Sync: ALWAYS,
  checkPrimeSync: wrapSlow(),
  createDiffieHellman: wrapSlow({ input: 0, sizeIsNone: true, longFrom: 1024 }),
  generateKeyPairSync: wrapSlow({ longFrom: 0, isLong: takesPrimes }),
  generatePrimeSync: wrapSlow({ input: 0, sizeIsNone: true, longFrom: 1024 }),
  hash: wrapSlow({ input: 1, longFrom: 16 * MIB }),
  pbkdf2Sync: wrapSlow({ input: 2, sizeIsNone: true, longFrom: 50_000 }),
  randomBytes: BYTES,
  randomFillSync: BYTES,
  scryptSync: ALWAYS,
  sign: SIGNS,
  verify: SIGNS,
};

const OF_ZLIB: Record<string, Wrap> = {
  /** More than a second for a MiB, at its default quality. */
  brotliCompressSync: wrapSlow({ input: 0, longFrom: 32 * KIB }),
  brotliDecompressSync: UNPACKS,
  deflateRawSync: PACKS,
  deflateSync: PACKS,
  gunzipSync: UNPACKS,
  gzipSync: PACKS,
  inflateRawSync: UNPACKS,
  inflateSync: UNPACKS,
  unzipSync: UNPACKS,
  zstdCompressSync: PACKS,
  zstdDecompressSync: UNPACKS,
};

const OF_CHILD_PROCESS: Record<string, Wrap> = {
  execFileSync: ALWAYS,
  execSync: ALWAYS,
  spawnSync: ALWAYS,
};

const OF_V8: Record<string, Wrap> = {
  /** 13 to 23 ms for a MiB. */
  deserialize: wrapSlow({ input: 0, longFrom: MIB }),
  getHeapSnapshot: ALWAYS,
  queryObjects: ALWAYS,
  serialize: wrapSlow({ input: 0, longFrom: 50_000 }),
  writeHeapSnapshot: ALWAYS,
};

const OF_MODULE: Record<string, Wrap> = {
  /** 340 ms for a MiB. */
  stripTypeScriptTypes: wrapSlow({ input: 0, longFrom: 64 * KIB }),
};

const OF_VM: Record<string, Wrap> = {
  /** 100 ms for a MiB, as `Script`. */
  compileFunction: wrapSlow({ input: 0, longFrom: 256 * KIB }),
};

const MODULES = new Set<object>([childProcess, crypto, fs, module, v8, vm, zlib]);

/** Whether a holder is the exports of a module of Node.js, which may be imported by name. */
export const isModule = (holder: object) => MODULES.has(holder);

/** Resolved anew on every call: some may have been replaced, or be of another realm, since. */
export function builtIns(): BuiltIn[] {
  const all: BuiltIn[] = [
    ...ofModule(JSON, 'JSON', OF_JSON),
    { holder: globalThis, key: 'structuredClone', name: 'structuredClone', wrap: CLONE },
    ...ofModule(Atomics, 'Atomics', { wait: wrapWait }),
    ...ofModule(v8, 'v8', OF_V8),
    ...ofModule(module, 'module', OF_MODULE),
    ...ofModule(vm, 'vm', OF_VM),
    ...ofClass(vm, 'vm', 'Script'),
    ...ofClass((globalThis as { WebAssembly?: object }).WebAssembly, 'WebAssembly', 'Module'),
    ...ofModule(fs, 'fs', OF_FS),
    ...ofModule(crypto, 'crypto', OF_CRYPTO),
    ...ofModule(zlib, 'zlib', OF_ZLIB),
    ...ofModule(childProcess, 'child_process', OF_CHILD_PROCESS),
    ...ofPrototype(String, 'String', 'normalize', SLOW),
    ...ofPrototype(Buffer, 'Buffer', 'toString', wrapHot(16 * MIB, SMALL, true)),
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

function ofModule(holder: object, module: string, functions: Record<string, Wrap>): BuiltIn[] {
  return Object.entries(functions).map(([key, wrap]) => ({
    holder,
    key,
    name: `${module}.${key}`,
    wrap,
  }));
}

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
