// Guarantees: how long one synchronous call of a built-in blocks the event loop with a large input,
// the CPU time of the shortest of a few calls, in ms: quoted in docs/limits.md.
//
//   node bench/longest-calls.mjs                    with any Node.js; what it lacks is left out

// Guarantees: how long one synchronous call of a built-in blocks the event loop with a large input,
// the CPU time of the shortest of a few calls, in ms: quoted in docs/limits.md.
//
//   node bench/longest-calls.mjs                    with any Node.js; what it lacks is left out
import module, { createRequire } from 'node:module';
import v8 from 'node:v8';
import vm from 'node:vm';
import { table } from '../tools/table.cjs';

const CALLS = 5;
const MIB = 1 << 20;

const text = 'const total = rows.reduce((sum, row) => sum + row.price * row.count, 0);\n';
const typed = 'export function total(rows: readonly Row[]): number { return rows.length; }\n';
const repeat = (/** @type {string} */ part, /** @type {number} */ length) =>
  part.repeat(Math.ceil(length / part.length)).slice(0, -part.length);
const heap = Array.from({ length: 100_000 }, (_, id) => ({ id, name: `row ${id}` }));

/** A module of one function, of `size` bytes, that adds again and again. */
function wasmModule(/** @type {number} */ size) {
  const leb = (/** @type {number} */ n) =>
    [0, 7, 14, 21, 28].map((shift, i) => ((n >> shift) & 0x7f) | (i < 4 ? 0x80 : 0));
  const body = Buffer.alloc(size - (size % 3), Buffer.from([0x41, 1, 0x6a])); // i32.const 1, i32.add
  const code = Buffer.concat([Buffer.from([0, 0x41, 0]), body, Buffer.from([0x0b])]);
  const section = Buffer.concat([Buffer.from([1, ...leb(code.length)]), code]);
  return Buffer.concat([
    Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]),
    Buffer.from([1, 5, 1, 0x60, 0, 1, 0x7f]), // a type: no parameters, an i32
    Buffer.from([3, 2, 1, 0, 10, ...leb(section.length)]),
    section,
  ]);
}

function filledDatabase() {
  const { DatabaseSync } = createRequire(import.meta.url)('node:sqlite');
  const database = new DatabaseSync(':memory:');
  database.exec('CREATE TABLE rows (bytes BLOB)');
  const insert = database.prepare('INSERT INTO rows VALUES (?)');
  for (let i = 0; i < 64; i++) insert.run(Buffer.alloc(MIB, i));
  return database;
}

/**
 * Name, input, whether it is wrapped, what makes the input, and the call.
 * @type {[string, string, boolean, () => any, (input: any) => unknown][]}
 */
const calls = [
  ['v8.getHeapSnapshot', '100 000 objects', true, () => heap, () => v8.getHeapSnapshot().destroy()],
  [
    'module.stripTypeScriptTypes',
    '1.9 MiB',
    true,
    () => repeat(typed, 1.9 * MIB),
    // Node.js 20 has none.
    (code) => /** @type {any} */ (module).stripTypeScriptTypes(code),
  ],
  [
    'new WebAssembly.Module',
    '7 MiB',
    true,
    () => wasmModule(7 * MIB),
    (bytes) => {
      bytes[bytes.length - 3] = id++; // or V8 has it already
      return new WebAssembly.Module(bytes);
    },
  ],
  [
    'new vm.Script',
    '1.5 MiB',
    true,
    () =>
      `(() => { ${repeat(text, 1.5 * MIB).replace(/const total/g, () => `const t${id++}`)} })()`,
    (code) => new vm.Script(`${code} // ${id++}`),
  ],
  [
    'String#normalize',
    '8 Mi characters',
    true,
    () => repeat('Ame\u0301lie ', 8 * MIB),
    (input) => input.normalize('NFC'),
  ],
  ['node:sqlite serialize', '64 MiB', true, filledDatabase, (database) => database.serialize()],
  [
    'Buffer.concat',
    '2 of 64 MiB',
    false,
    () => [Buffer.alloc(64 * MIB, 1), Buffer.alloc(64 * MIB, 2)],
    (parts) => Buffer.concat(parts),
  ],
  [
    'Buffer.from',
    '32 Mi characters',
    false,
    () => repeat('Am\u00e9lie ', 32 * MIB),
    (input) => Buffer.from(input),
  ],
  [
    'Buffer#indexOf',
    '128 MiB',
    false,
    () => Buffer.alloc(128 * MIB, 'ab'),
    (bytes) => bytes.indexOf('aba\u0000'),
  ],
];
let id = 0;

/** Of this thread; of the process before Node.js 23.9. */
function cpuMillis() {
  const read = /** @type {any} */ (process).threadCpuUsage ?? process.cpuUsage;
  const { user, system } = read.call(process);
  return (user + system) / 1e3;
}

const rows = [];
for (const [name, input, isWrapped, make, call] of calls) {
  try {
    const made = make();
    let shortest = Number.POSITIVE_INFINITY;
    for (let i = 0; i < CALLS; i++) {
      const start = cpuMillis();
      call(made);
      shortest = Math.min(shortest, cpuMillis() - start);
    }
    rows.push([`\`${name}\``, input, shortest.toFixed(0), isWrapped ? 'yes' : 'no']);
  } catch (error) {
    console.error(`${name}: left out, ${error.message}`);
  }
}
console.log(`Node.js ${process.version}, the shortest of ${CALLS} calls\n`);
console.log(table(['call', 'input', 'ms of CPU', 'wrapped'], rows));
