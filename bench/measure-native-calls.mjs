// Promises: wrapped and not wrapped in turn, as JSON on stdout. Started by native-calls.mjs:
// `node bench/measure-native-calls.mjs <bundled src/hooks/native-calls.ts> <rounds> [<name of a
// call> …]`.
import crypto from 'node:crypto';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { estimate, median } from '../tools/statistics.cjs';

const [, , file, rounds, ...only] = process.argv;
const { NativeCalls } = createRequire(import.meta.url)(file);
const nativeCalls = new NativeCalls();

/** Length of one slice, and how many are thrown away first. */
const SLICE_MILLIS = 4;
const WARM_UP_SLICES = 20;

const text = '{"id":12345,"name":"customer"}';
const longer = JSON.stringify(Array.from({ length: 30 }, (_, id) => ({ id, name: 'customer' })));
const row = JSON.parse(text);
const bytes = Buffer.from(text);
const more = Buffer.alloc(1000, 'x');
const decoder = new TextDecoder();
const encoder = new TextEncoder();
const path = import.meta.filename ?? new URL(import.meta.url).pathname;

/**
 * Each with two loops of its own, one that never meets the wrapper and one that never meets
 * anything else, as in an application.
 * @type {[string, ReturnType<typeof loop>][]}
 */
const calls = [
  ['JSON.parse, 30 characters', loop('sum += JSON.parse(text).id')],
  ['JSON.parse, 1000 characters', loop('sum += JSON.parse(longer).length')],
  ['JSON.stringify, 2 properties', loop('sum += JSON.stringify(row).length')],
  ['structuredClone, 2 properties', loop('sum += structuredClone(row).id')],
  ['Buffer#toString, 30 bytes', loop('sum += bytes.toString().length')],
  ['Buffer#toString, 1000 bytes', loop('sum += more.toString().length')],
  ['Buffer#toString hex, 30 bytes', loop("sum += bytes.toString('hex').length")],
  [
    'createHash, update, digest',
    loop("sum += crypto.createHash('md5').update(text).digest('hex').length"),
  ],
  ['TextDecoder#decode, 30 bytes', loop('sum += decoder.decode(bytes).length')],
  ['TextEncoder#encode, 30 characters', loop('sum += encoder.encode(text).length')],
  ['randomBytes, 16', loop('sum += crypto.randomBytes(16).length')],
  ['readFileSync, a small file', loop("sum += fs.readFileSync(path, 'utf8').length")],
];

function loop(/** @type {string} */ body) {
  const inputs = { text, longer, row, bytes, more, decoder, encoder, crypto, fs, path };
  const compile = () => {
    const compiled = new Function(
      `{ ${Object.keys(inputs)} }`,
      'n',
      `let sum = 0; for (let i = 0; i < n; i++) { ${body}; } return sum;`,
    );
    return (/** @type {number} */ n) => compiled(inputs, n);
  };
  return { off: compile(), on: compile() };
}

let sink = 0;
function slice(/** @type {(n: number) => number} */ run, /** @type {number} */ n) {
  const start = process.hrtime.bigint();
  sink += run(n);
  return Number(process.hrtime.bigint() - start) / n;
}

function calibrate(/** @type {(n: number) => number} */ run) {
  for (let n = 16; ; n *= 2) if (slice(run, n) * n >= SLICE_MILLIS * 1e6) return n;
}

const rows = calls
  .filter(([name]) => only.length === 0 || only.includes(name))
  .map(([name, loops]) => {
    const n = calibrate(loops.off);
    /** @type {number[]} */
    const off = [];
    /** @type {number[]} */
    const on = [];
    for (let round = -WARM_UP_SLICES; round < Number(rounds); round++) {
      // Which one comes first changes from round to round, so that no drift favours either.
      for (const isOn of round % 2 === 0 ? [false, true] : [true, false]) {
        if (isOn) nativeCalls.enable(console.error);
        const run = isOn ? loops.on : loops.off;
        slice(run, n >> 3);
        const nanos = slice(run, n);
        if (isOn) nativeCalls.disable();
        if (round >= 0) (isOn ? on : off).push(nanos);
      }
    }
    return {
      name,
      off: median(off),
      added: estimate(on.map((nanos, i) => nanos - off[i])),
      ratio: estimate(on.map((nanos, i) => nanos / off[i])),
    };
  });
process.stdout.write(JSON.stringify({ version: process.version, rows, sink: sink > 0 }));
