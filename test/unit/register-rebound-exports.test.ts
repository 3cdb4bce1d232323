import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { reboundExports } from '../../src/register/rebound-exports.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'event-loop-rebound-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, source: string): string {
  const file = path.join(folder, name);
  writeFileSync(file, source);
  return pathToFileURL(file).href;
}

test.each([
  ['export let', 'export let x = 1;\nexport function set(v) { x = v; }'],
  ['without a value', 'export let x;\nexport const set = (v) => { x = v };'],
  ['the second of a list', 'export let a = 1, x = 2;\nexport function set(v) { x = v }'],
  ['an arrow function without braces', 'export let x;\nexport const set = (v) => (x = v);'],
  ['an arrow function on the next line', 'export let x;\nexport const set = (v) =>\n  (x = v);'],
  ['a list of exports', 'let x = 1;\nfunction set(v) { x = v }\nexport { x, set };'],
  ['a bundler', 'var x = (a) => a;\nfunction set(v) {\n  x = v;\n}\nexport {\n  x,\n  set\n};'],
  ['another name', 'let a = 1;\nfunction set(v) { a = v }\nexport { a as x, set };'],
  ['minified', 'let a=1;function s(v){if(v){a=v}}export{a as x,s as set};'],
  ['a function', 'export function x() {}\nexport function set(v) { x = v }'],
  ['a method', 'export let x;\nclass A { set(v) { x = v; } }'],
  ['a counter', 'export let x = 0;\nexport function next() { x++; }'],
  ['a counter, first', 'export let x = 0;\nexport function next() { return ++x; }'],
  ['an operator', 'export let x;\nexport function get() { return (x ??= {}); }'],
  ['lazily', 'export let x;\nexport const get = () => x || (x = {});'],
  ['in a block of a function', 'export let x;\nfunction f() { for (;;) { if (1) { x = 2 } } }'],
  ['after a string with a brace', 'export let x;\nfunction f() { g("}"); x = 1 }'],
  ['after a regular expression', 'export let x;\nfunction f() { g(/[}"`]/); x = 1 }'],
  ['after a comment', 'export let x;\nfunction f() { /* } */ x = 1 } // }'],
])('assigned later: %s', (_what, source) => {
  expect(reboundExports(write('main.mjs', source))).toEqual(['x']);
});

test.each([
  ['a constant', 'export const x = 1;\nexport function f() { const y = x === 2; }'],
  [
    'while it is evaluated',
    'export let x;\nif (a) { x = 1 } else { x = 2 }\ntry { x = 3 } catch (e) {}',
  ],
  ['an enum', 'export var x;\n(function (x) { x["A"] = "a"; })(x || (x = {}));'],
  ['a decorated class', 'let x = class x {};\nx = __decorate([a()], x);\nexport { x };'],
  ['a property', 'export let x = {};\nexport function f(o) { o.x = 1; x.y = 2; }'],
  ['a variable of the function', 'export let x = 1;\nexport function f() { const x = 2; }'],
  ['compared', 'export let x = 1;\nexport const f = () => x == 2 || x === 3 || x <= 4;'],
  ['what is not exported', 'let y;\nexport let x;\nexport function f() { y = 1; }'],
  ['in a comment', 'export let x; // function f() { x = 1 }\n/* function f() { x = 1 } */'],
  ['in a string', 'export let x;\nfunction f() { g("x = 1", `x = 2`, \'x = 3\') }'],
  ['CommonJS', 'let x;\nexports.x = x;\nexports.f = () => { x = 1 };'],
])('not assigned later: %s', (_what, source) => {
  expect(reboundExports(write('main.mjs', source))).toEqual([]);
});

test.each([
  ['export *', "export * from './impl.mjs';"],
  ['export', "export { x } from './impl.mjs';"],
  ['import, then export', "import { x } from './impl.mjs';\nexport { x };"],
  ['by another name', "import { x as a, set } from './impl.mjs';\nexport { a as x };"],
  ['by its default', "import a, { set } from './impl.mjs';\nexport { a as x };"],
  ['minified', 'import{x as a}from"./impl.mjs";export{a as x};'],
  ['two files away', "export * from './barrel.mjs';"],
])('in another file of the package: %s', (_what, source) => {
  write('impl.mjs', 'export let x;\nexport function set(v) { x = v }\nexport { x as default };');
  write('barrel.mjs', "export * from './impl.mjs';\nexport * from './main.mjs';");
  expect(reboundExports(write('main.mjs', source))).toEqual(['x']);
});

test.each([
  ['imported', "import { x } from './impl.mjs';\nexport const f = () => x;"],
  ['imported for itself', "import './impl.mjs';\nexport const x = 1;"],
  ['another name is exported', "export { set } from './impl.mjs';"],
  [
    'another name is imported and exported',
    "import { x, set } from './impl.mjs';\nexport { set };",
  ],
  ['a namespace, which has the new value', "export * as impl from './impl.mjs';"],
  ['a namespace, imported', "import * as impl from './impl.mjs';\nexport { impl };"],
  ['of an import of its own', "export default f\nimport { x } from './impl.mjs';"],
])('in another file of the package, not exported: %s', (_what, source) => {
  // As openai 6 has it.
  write('impl.mjs', 'export let x = (v) => ((x = Array.isArray), x(v));\nexport function set() {}');
  expect(reboundExports(write('main.mjs', source))).toEqual([]);
});

test('a file that is not there, and what is no file, are left to Node.js', () => {
  expect(reboundExports('node:fs')).toEqual([]);
  expect(reboundExports(pathToFileURL(path.join(folder, 'none.mjs')).href)).toEqual([]);
});
