/**
 * Named imports of the modules of Node.js (`import { readFileSync } from 'node:fs'`) follow what is
 * put on the modules' exports only when `syncBuiltinESMExports` is called, which does that for all
 * exports of all modules: what other code has put there and not published, a stub in a test for
 * one, is published as well. Guarantees: it is called only if an export of the modules below has
 * changed, and what others have not published of these modules stays unpublished. Of other modules
 * it does not: only an ES module that imports them, as the build for `import` does, could tell.
 */
import childProcess, * as childProcessNames from 'node:child_process';
import crypto, * as cryptoNames from 'node:crypto';
import fs, * as fsNames from 'node:fs';
import module, * as moduleNames from 'node:module';
import v8, * as v8Names from 'node:v8';
import vm, * as vmNames from 'node:vm';
import zlib, * as zlibNames from 'node:zlib';

type Exports = Readonly<Record<string, unknown>>;

/** In the build for `require`, the names are the exports themselves. */
const MODULES = [
  [childProcess, childProcessNames],
  [crypto, cryptoNames],
  [fs, fsNames],
  [module, moduleNames],
  [v8, v8Names],
  [vm, vmNames],
  [zlib, zlibNames],
] as unknown as readonly (readonly [exports: Exports, names: Exports])[];

/** Runs `change`; named imports follow what it puts on the modules' exports. */
export function withNamedImports(change: () => void): void {
  const before = readExports();
  change();
  if (before.every(({ exports, key, property }) => Object.is(exports[key], property.value))) return;
  const unpublished = before.filter(({ property, named }) => !Object.is(property.value, named));
  const hidden = unpublished.map(({ exports, key, named }) => {
    const property = Object.getOwnPropertyDescriptor(exports, key) as PropertyDescriptor;
    Reflect.defineProperty(exports, key, { ...property, value: named });
    return () => Reflect.defineProperty(exports, key, property);
  });
  try {
    module.syncBuiltinESMExports();
  } finally {
    for (const putBack of hidden) putBack();
  }
}

/** Calls no getter. */
function readExports() {
  return MODULES.flatMap(([exports, names]) =>
    Object.keys(names).flatMap((key) => {
      const property = Object.getOwnPropertyDescriptor(exports, key);
      return property && 'value' in property ? [{ exports, key, property, named: names[key] }] : [];
    }),
  );
}
