// @ts-nocheck: these are functions as applications have them.
/**
 * Labelled blockers: what blocks the event loop, and the function that has to be named for it. The
 * scenarios `capture.test.ts` and the benchmark `truth` run the same ones.
 */
const { execFileSync } = require('node:child_process');
const { createHash, pbkdf2Sync, randomBytes, scryptSync } = require('node:crypto');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { brotliCompressSync, constants, gunzipSync, gzipSync } = require('node:zlib');
const { EventEmitter } = require('node:events');
const { Transform } = require('node:stream');
const { pipeline } = require('node:stream/promises');
const { context } = require('@opentelemetry/api');
const Ajv = require('ajv').default;
const ejs = require('ejs');

/** How long each of them holds the loop, at least. */
const BLOCK_MILLIS = Number(process.env.BLOCK_MILLIS ?? 110);

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'blocking-functions-'));
const file = path.join(folder, 'data');
const bytes = randomBytes(1 << 20);
fs.writeFileSync(file, bytes);
const row = (_, id) => ({
  id,
  name: `somebody ${id}`,
  tags: ['new', 'paid'],
  nested: { amount: id * 1.5 },
});
const rows = (n) => Array.from({ length: n }, row);
const numbers = (n) => Array.from({ length: n }, Math.random);
const after = (millis) => performance.now() + millis;

/** A package of somebody else's. */
function installDependency() {
  const dependency = path.join(folder, 'node_modules', 'left-padding');
  fs.mkdirSync(dependency, { recursive: true });
  fs.writeFileSync(
    path.join(dependency, 'index.js'),
    `'use strict';
module.exports = function padAll(end) {
  let text = '';
  while (performance.now() < end) text = 'x'.padStart(200) + text.slice(0, 1000);
  return text;
};`,
  );
  return require(dependency);
}
const padAll = installDependency();
/** The application's own function: what a package does for it is named by it. */
function padRows(end) {
  padAll(end);
}

// --- loops and recursion

function hashMillions(end) {
  let hash = 0;
  while (performance.now() < end)
    for (let i = 0; i < 1e5; i++) hash = Math.imul(hash ^ i, 0x01000193);
  return hash;
}

function findPairs(list) {
  let pairs = 0;
  for (const a of list) for (const b of list) if (a + b === 1) pairs++;
  return pairs;
}

function fibonacci(n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

function ackermann(m, n) {
  if (m === 0) return n + 1;
  return ackermann(m - 1, n === 0 ? 1 : ackermann(m, n - 1));
}

function buildSpans(list) {
  return list.map((each) => list.find((other) => other.id === each.id));
}

function sumForEach(list) {
  let sum = 0;
  list.forEach((a) => {
    list.forEach((b) => {
      sum += a * b;
    });
  });
  return sum;
}

// --- the engine's own

function matchBackwards(n) {
  return /^(a+)+$/.test(`${'a'.repeat(n)}b`);
}

function replaceDigits(text) {
  return text.replace(/\d+/g, (digits) => `<${digits}>`);
}

function parseOrders(text) {
  const orders = JSON.parse(text);
  return orders.map((order) => order.id).length;
}

function serializeOrders(list) {
  const text = JSON.stringify(list);
  return Buffer.byteLength(text);
}

function sortByComparator(list) {
  return list.sort((a, b) => a - b);
}

function byName(a, b) {
  return a.name < b.name ? -1 : 1;
}

function joinText(end) {
  let text = '';
  while (performance.now() < end) text = (text + Math.random()).slice(-10_000).toUpperCase();
  return text;
}

function fillMap(n) {
  const map = new Map();
  for (let i = 0; i < n; i++) map.set(`key ${i}`, i);
  return map;
}

function cloneState(list) {
  const clone = structuredClone(list);
  return clone.filter((each) => each.id > 5).length;
}

function sumBigInts(end) {
  let big = 1n;
  while (performance.now() < end) big = (big * 1_000_003n) % (1n << 4096n);
  return big;
}

// --- Node.js

function derivePassword(iterations) {
  return pbkdf2Sync('secret', 'salt', iterations, 64, 'sha512');
}

function deriveScrypt(cost) {
  return scryptSync('secret', 'salt', 64, { N: cost, r: 8, maxmem: 1 << 30 });
}

function digestFiles(end) {
  const hash = createHash('sha256');
  while (performance.now() < end) hash.update(bytes);
  return hash.digest('hex');
}

function compress(input) {
  return gzipSync(input);
}

const packed = gzipSync(bytes);
function decompress(end) {
  while (performance.now() < end) gunzipSync(packed);
}

function compressBrotli(input) {
  return brotliCompressSync(input, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } });
}

function readFiles(end) {
  while (performance.now() < end) fs.readFileSync(file);
}

function walkFolders(end) {
  while (performance.now() < end) fs.readdirSync('/usr/lib', { withFileTypes: true });
}

function runCommand(seconds) {
  return execFileSync('sleep', [String(seconds)]);
}

// --- libraries

const template = ejs.compile('<% for (const each of list) { %><li><%- format(each) %></li><% } %>');
function formatPrice({ nested }) {
  let text = '';
  for (let cents = Math.round(nested.amount * 1e6); cents > 0; cents = Math.floor(cents / 1.01)) {
    text = String(cents % 10) + text;
  }
  return text.slice(0, 8);
}
const renderInvoice = (list) => template({ list, format: formatPrice });

const listTemplate = ejs.compile(
  '<% for (const each of list) { %><li><%- each.name %></li><% } %>',
);
const someRows = rows(500);
function renderLists(end) {
  let length = 0;
  while (performance.now() < end) length += listTemplate({ list: someRows }).length;
  return length;
}

const isOrders = new Ajv().compile({
  type: 'array',
  items: {
    type: 'object',
    required: ['id', 'name'],
    properties: { name: { type: 'string', pattern: '^some' } },
  },
});
const someOrders = rows(2000);
function validateOrders(end) {
  while (performance.now() < end) if (!isOrders(someOrders)) return isOrders.errors.join();
  return 'ok';
}

// --- classes, closures, async

class Report {
  constructor(end) {
    if (end) while (performance.now() < end) this.total = (this.total ?? 0) + Math.sqrt(2);
  }
  summarize(end) {
    while (performance.now() < end) this.total = (this.total ?? 0) + Math.sqrt(3);
  }
  static build(end) {
    let total = 0;
    while (performance.now() < end) total += Math.sqrt(5);
    return total;
  }
  get average() {
    let total = 0;
    for (const end = after(BLOCK_MILLIS); performance.now() < end; ) total += Math.sqrt(7);
    return total;
  }
}
class MonthlyReport extends Report {}

function makeCounter() {
  let count = 0;
  const countUp = (end) => {
    while (performance.now() < end) count++;
    return count;
  };
  return countUp;
}
const counter = makeCounter();

async function hashStep() {
  let hash = 0;
  for (let i = 0; i < 2e5; i++) hash = Math.imul(hash ^ i, 0x01000193);
  return hash;
}
async function hashAsync(end) {
  while (performance.now() < end) await hashStep();
}

function tickStep(end, done) {
  for (let i = 0, hash = 0; i < 2e5; i++) hash = Math.imul(hash ^ i, 0x01000193);
  if (performance.now() < end) process.nextTick(tickStep, end, done);
  else done();
}

function* walkTree(end) {
  while (performance.now() < end) {
    let sum = 0;
    for (let i = 0; i < 1e5; i++) sum += Math.random();
    yield sum;
  }
}
function consume(end) {
  let last;
  for (const each of walkTree(end)) last = each;
  return last;
}

function onOrder(end) {
  let total = 0;
  while (performance.now() < end) total += Math.sqrt(11);
  return total;
}
const emitter = new EventEmitter().on('order', onOrder);

function transformChunk(end) {
  let total = 0;
  while (performance.now() < end) total += Math.sqrt(13);
  return total;
}
const transform = (end) =>
  pipeline(
    [Buffer.from('x')],
    new Transform({
      transform(_chunk, _encoding, done) {
        transformChunk(end);
        done();
      },
    }).resume(),
  );

/** With the time at which they end. */
const timed = (blockingFunction, run = blockingFunction) => ({
  blockingFunction,
  run: (end) => run(end),
  make: () => undefined,
});
/** With an input that takes long enough, found by trying. */
const sized = (blockingFunction, size, make, run = blockingFunction, grow = (n) => n * 1.8) => ({
  blockingFunction,
  size,
  make,
  run,
  grow,
});
const named = (name) => ({ name });

/** Each: what has to be named, and how it is run. */
const blockers = {
  loop: timed(hashMillions),
  'nested loop': sized(findPairs, 3000, numbers),
  recursion: sized(
    fibonacci,
    30,
    (n) => n,
    fibonacci,
    (n) => n + 1,
  ),
  'deep recursion': sized(
    ackermann,
    80,
    (n) => n,
    (n) => ackermann(2, n * 20),
    (n) => n + 20,
  ),
  'map and find': sized(buildSpans, 3000, rows),
  'forEach in forEach': sized(sumForEach, 3000, numbers),
  regex: sized(
    matchBackwards,
    20,
    (n) => n,
    matchBackwards,
    (n) => n + 1,
  ),
  'replace with a function': sized(replaceDigits, 20_000, (n) => JSON.stringify(rows(n))),
  'JSON.parse': sized(parseOrders, 50_000, (n) => JSON.stringify(rows(n))),
  'JSON.stringify': sized(serializeOrders, 50_000, rows),
  'sort, inline comparator': sized(sortByComparator, 50_000, numbers, (list) =>
    sortByComparator(list.slice()),
  ),
  'sort, named comparator': sized(byName, 300_000, rows, (list) => list.slice().sort(byName)),
  strings: timed(joinText),
  'filling a Map': sized(fillMap, 100_000, (n) => n),
  structuredClone: sized(cloneState, 20_000, rows),
  BigInt: timed(sumBigInts),
  pbkdf2Sync: sized(derivePassword, 50_000, (n) => Math.floor(n)),
  scryptSync: sized(
    deriveScrypt,
    1 << 14,
    (n) => n,
    deriveScrypt,
    (n) => n * 2,
  ),
  'hash.update': timed(digestFiles),
  gzipSync: sized(compress, 2, (n) => Buffer.concat(Array(Math.ceil(n)).fill(bytes))),
  gunzipSync: timed(decompress),
  brotliCompressSync: sized(compressBrotli, 12, (n) =>
    Buffer.concat(Array(Math.ceil(n)).fill(bytes)),
  ),
  readFileSync: timed(readFiles),
  readdirSync: timed(walkFolders),
  execFileSync: { blockingFunction: runCommand, make: () => BLOCK_MILLIS / 1e3, run: runCommand },
  'template with a helper': sized(formatPrice, 500, rows, renderInvoice),
  'template alone': timed(renderLists),
  'schema validation': timed(validateOrders),
  dependency: timed(padRows),
  method: timed(named('Report.summarize'), (end) => new Report().summarize(end)),
  'inherited method': timed(named('MonthlyReport.summarize'), (end) =>
    new MonthlyReport().summarize(end),
  ),
  'static method': timed(named('Report.build'), (end) => Report.build(end)),
  constructor: timed(named('new Report'), (end) => new Report(end)),
  getter: timed(named('get average'), () => new Report().average),
  closure: timed(named('countUp'), (end) => counter(end)),
  generator: timed(named('walkTree'), consume),
  listener: timed(onOrder, (end) => emitter.emit('order', end)),
  'bound to a context': timed(hashMillions, (end) =>
    context.bind(context.active(), hashMillions)(end),
  ),
  stream: { ...timed(transformChunk, transform), asynchronous: true },
  'await chain': { ...timed(hashStep, hashAsync), asynchronous: true },
  'nextTick chain': {
    ...timed(tickStep, (end) => new Promise((done) => tickStep(end, done))),
    asynchronous: true,
  },
};

/**
 * The input with which this takes long enough, twice. Runs before the first turn of the loop, so it
 * is no block.
 */
function calibrate({ size, make, run, grow }, now = () => performance.now()) {
  if (size === undefined) return make();
  const takesLongEnough = (input) => {
    const start = now();
    run(input);
    return now() - start >= BLOCK_MILLIS;
  };
  for (let n = size; ; n = grow(n)) {
    const input = make(n);
    if (takesLongEnough(input) && takesLongEnough(input)) return input;
  }
}

/**
 * The argument of `run`, made with the input that {@link calibrate} found: for those that run until
 * some time, that time.
 */
const argumentOf = (input, factor = 1) => input ?? after(factor * BLOCK_MILLIS);

/** Removes what the blockers have put on disk. */
const cleanUp = () => fs.rmSync(folder, { recursive: true, force: true });

module.exports = { BLOCK_MILLIS, argumentOf, blockers, calibrate, cleanUp };
