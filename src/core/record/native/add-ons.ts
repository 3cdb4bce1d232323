/**
 * Native add-ons, whose synchronous calls may take long. Guarantees: bcrypt and better-sqlite3 are
 * known by what they export, wherever they lie and whatever their file is called; their functions
 * are wrapped where their package looks them up on every call, so that references to the package's
 * own functions, taken before, are right as well. Of any other add-on, the functions that it
 * exports are wrapped, and no method: of classes, only those of better-sqlite3 are.
 *
 * Every add-on of a thread is loaded through `process.dlopen`, by `require` and by `import`, on
 * every Node.js, so no module hook is needed.
 */
import { createRequire } from 'node:module';
import { basename } from 'node:path';
import { boundedName } from '../../../support/bounded.ts';
import type { BuiltIn } from './built-ins.ts';
import { SLOW, type Wrap, wrapConstructor, wrapSlow, wrapToTell } from './wrappers.ts';

/** Each round doubles it: with 8 it takes some 15 ms. */
const MIN_LONG_ROUNDS = 8;
/** Where `$2b$10$…`, a salt or a hash, says how many rounds. */
const ROUNDS_AT = '$2b$'.length;
const BCRYPT = wrapSlow({
  longFrom: 0,
  isLong: (_data, salt) =>
    typeof salt === 'string' && Number(salt.slice(ROUNDS_AT, ROUNDS_AT + 2)) >= MIN_LONG_ROUNDS,
});

/** One add-on has all of these: in the prototype of a class, `of`, or in its exports. */
const ADD_ONS: readonly (readonly (Omit<BuiltIn, 'holder'> & { readonly of?: string })[])[] = [
  [
    { name: 'bcrypt.hashSync', key: 'encrypt_sync', wrap: BCRYPT },
    { name: 'bcrypt.compareSync', key: 'compare_sync', wrap: BCRYPT },
  ],
  [
    { name: 'better-sqlite3.Statement.run', key: 'run', wrap: SLOW, of: 'Statement' },
    { name: 'better-sqlite3.Statement.get', key: 'get', wrap: SLOW, of: 'Statement' },
    { name: 'better-sqlite3.Statement.all', key: 'all', wrap: SLOW, of: 'Statement' },
    { name: 'better-sqlite3.Statement.iterate', key: 'iterate', wrap: SLOW, of: 'Statement' },
    // What iterates: the first row may take as long as all of them.
    { name: 'better-sqlite3.Statement.iterate', key: 'next', wrap: SLOW, of: 'StatementIterator' },
    { name: 'better-sqlite3.Database.exec', key: 'exec', wrap: SLOW, of: 'Database' },
  ],
];

export interface AddOn {
  readonly file: unknown;
  readonly exports: unknown;
}

export function functionsOf({ file, exports }: AddOn): BuiltIn[] {
  for (const methods of ADD_ONS) {
    const found = methods.flatMap(({ of, ...method }) => {
      const holder = of === undefined ? exports : valueIn(valueIn(exports, of), 'prototype');
      return isObject(holder) && typeof valueIn(holder, method.key) === 'function'
        ? [{ ...method, holder }]
        : [];
    });
    if (found.length === methods.length) return found;
  }
  return isObject(exports) ? functionsOfUnknown(exports, String(file)) : [];
}

/**
 * Named by the file, `swc.transformSync` of `swc.linux-x64-gnu.node`. They may be called with
 * `new`: the classes of some have no methods.
 */
function functionsOfUnknown(holder: object, file: string): BuiltIn[] {
  const [addOn] = basename(file).split('.');
  return Object.keys(holder)
    .filter((key) => isPlainFunction(valueIn(holder, key)))
    .map((key) => ({ holder, key, name: boundedName(`${addOn}.${key}`), wrap: wrapConstructor }));
}

/** A function that is no class with methods. */
function isPlainFunction(value: unknown): boolean {
  if (typeof value !== 'function') return false;
  const prototype = valueIn(value, 'prototype');
  return !isObject(prototype) || Reflect.ownKeys(prototype).every((key) => key === 'constructor');
}

/** The add-ons that `require` has loaded before, directly or through a package. */
export function loadedAddOns(): AddOn[] {
  // All of `require` share one cache; the file that it is made for need not exist.
  const { cache } = createRequire(process.execPath);
  return Object.keys(cache)
    .filter((file) => file.endsWith('.node'))
    .map((file) => ({ file, exports: cache[file]?.exports }));
}

/** `process.dlopen`; `loaded` is called with the add-on, and must not throw. */
export const wrapLoading = (loaded: (addOn: AddOn) => void): Wrap =>
  wrapToTell((_, [module, file]) => loaded({ file, exports: valueIn(module, 'exports') }));

/** Calls no getter: what an unknown add-on does there is its own matter. */
function valueIn(holder: unknown, key: string): unknown {
  if (!isObject(holder)) return undefined;
  return Object.getOwnPropertyDescriptor(holder, key)?.value;
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}
