// @ts-nocheck: these are functions as applications have them.
/**
 * Labelled blockers: what blocks the event loop, and the function that has to be named for it. The
 * scenarios `capture.test.ts` and `native-calls.test.ts`, and the benchmark `truth`, run the same
 * ones.
 */
const childProcess = require('node:child_process');
const crypto = require('node:crypto');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const v8 = require('node:v8');
const vm = require('node:vm');
const zlib = require('node:zlib');
const { EventEmitter } = require('node:events');
const { Transform } = require('node:stream');
const { pipeline } = require('node:stream/promises');
const { context } = require('@opentelemetry/api');
const Ajv = require('ajv').default;
const ejs = require('ejs');

/** How long each of them holds the loop, at least. */
const BLOCK_MILLIS = Number(process.env.BLOCK_MILLIS ?? 110);
/** The same for the native calls. */
const CALL_MILLIS = Number(process.env.CALL_MILLIS ?? 75);
const MIB = 1 << 20;

/** In memory where there is such a place: thousands of files are made. */
const TEMPORARY = fs.existsSync('/dev/shm') ? '/dev/shm' : os.tmpdir();
const folder = fs.mkdtempSync(path.join(TEMPORARY, 'labelled-blockers-'));
const fileOf = (name) => path.join(folder, name);
const written = (name, content) => {
  fs.writeFileSync(fileOf(name), content);
  return fileOf(name);
};
const bytes = crypto.randomBytes(MIB);
const file = written('data', bytes);
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

function digestFiles(end) {
  const hash = crypto.createHash('sha256');
  while (performance.now() < end) hash.update(bytes);
  return hash.digest('hex');
}

const packed = zlib.gzipSync(bytes);
function decompressAll(end) {
  while (performance.now() < end) zlib.gunzipSync(packed);
}

function compressFast(input) {
  return zlib.brotliCompressSync(input, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } });
}

function readFiles(end) {
  while (performance.now() < end) fs.readFileSync(file);
}

function walkFolders(end) {
  while (performance.now() < end) fs.readdirSync('/usr/lib', { withFileTypes: true });
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

// --- Native calls in the last expression. V8 answers an interrupt when a function is called or a
// loop turns, and by then the function that made the call is gone from the stack.

const decoder = new TextDecoder();
const encoder = new TextEncoder();
const key = Buffer.alloc(32, 1);
const { privateKey } = crypto.generateKeyPairSync('ec', { namedCurve: 'P-256' });
/** Makes every text another one: V8 keeps what it has compiled. */
let compiled = 0;

const parseText = (text) => JSON.parse(text);
const writeText = (list) => JSON.stringify(list);
const cloneRows = (list) => structuredClone(list);
const serializeRows = (list) => v8.serialize(list);
const deserializeRows = (buffer) => v8.deserialize(buffer);
const readText = (name) => fs.readFileSync(name, 'utf8');
const readBytes = (name) => fs.readFileSync(name);
const writeBytes = (buffer) => fs.writeFileSync(fileOf('written'), buffer);
const copyBytes = (name) => fs.copyFileSync(name, fileOf('copied'));
const listFolder = (directory) => fs.readdirSync(directory);
const hashBytes = (buffer) => crypto.createHash('sha256').update(buffer);
const signBytes = (buffer) => crypto.createHmac('sha256', key).update(buffer);
const encryptBytes = (buffer) =>
  crypto.createCipheriv('aes-256-cbc', key, key.subarray(0, 16)).update(buffer);
const digestBytes = (buffer) => crypto.hash('sha256', buffer);
const signDocument = (buffer) => crypto.sign('sha256', buffer, privateKey);
const makeNoise = (size) => crypto.randomBytes(size);
const derivePassword = (count) => crypto.pbkdf2Sync('secret', 'salt', count, 64, 'sha512');
const deriveScrypt = (cost) =>
  crypto.scryptSync('secret', 'salt', 64, { N: cost, r: 8, maxmem: 1 << 30 });
const makeKeys = (modulusLength) => crypto.generateKeyPairSync('rsa', { modulusLength });
const compress = (buffer) => zlib.gzipSync(buffer);
const decompress = (buffer) => zlib.gunzipSync(buffer);
const compressBrotli = (buffer) => zlib.brotliCompressSync(buffer);
const runShell = (seconds) => childProcess.execSync(`sleep ${seconds}`);
const runCommand = (seconds) => childProcess.execFileSync('sleep', [String(seconds)]);
const spawnCommand = (seconds) => childProcess.spawnSync('sleep', [String(seconds)]);
const decodeBuffer = (buffer) => buffer.toString();
const encodeText = (text) => Buffer.from(text, 'base64');
const joinBuffers = (list) => Buffer.concat(list);
const findBytes = (buffer) => buffer.indexOf('abac');
const decodeText = (buffer) => decoder.decode(buffer);
const encodeBytes = (text) => encoder.encode(text);
const sortNumbers = (list) => list.slice().sort();
const joinNumbers = (list) => list.join();
const sortFloats = (list) => list.slice().sort();
const splitText = (text) => text.split(' ');
const replaceText = (text) => text.replace(/ /g, ', ');
const normalizeText = (text) => text.normalize('NFD');
const matchBackwards = (text) => /^(a+)+$/.test(text);
const raise = (exponent) => 1_000_003n ** exponent;
const printBigInt = (big) => big.toString();
const compileText = (text) => new vm.Script(text + compiled++, { produceCachedData: true });
const listEntries = (map) => Object.entries(map);
const listOfLength = (like) => Array.from(like);

// --- inputs of a size

const same = (n) => n;
const whole = (n) => Math.floor(n);
const big = (n) => BigInt(Math.floor(n));
const powerOfTwo = (n) => 1 << Math.ceil(Math.log2(n));
const textOf = (n) => JSON.stringify(rows(n));
const allA = (n) => `${'a'.repeat(n)}b`;
const filled = (text) => (n) => Buffer.alloc(n * MIB, text);
const copies = (n) => Buffer.concat(Array(Math.ceil(n)).fill(bytes));
/** Text of `n` MiB that does not compress to nothing. */
const words = (n) =>
  Array.from({ length: Math.ceil(n * 64) }, (_, i) => `${Math.sqrt(i + 2)} `.repeat(910)).join('');
const wordsAsBytes = (n) => Buffer.from(words(n), 'latin1');
function manyFiles(n) {
  fs.mkdirSync(fileOf('many'), { recursive: true });
  for (let i = 0; i < n; i++)
    fs.closeSync(fs.openSync(path.join(fileOf('many'), `file-${i}`), 'w'));
  return fileOf('many');
}
const oneMore = (n) => n + 1;
const twentyMore = (n) => n + 20;

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
  recursion: sized(fibonacci, 30, same, fibonacci, oneMore),
  'deep recursion': sized(ackermann, 80, same, (n) => ackermann(2, n * 20), twentyMore),
  'map and find': sized(buildSpans, 3000, rows),
  'forEach in forEach': sized(sumForEach, 3000, numbers),
  regex: sized(matchBackwards, 20, allA, matchBackwards, oneMore),
  'replace with a function': sized(replaceDigits, 20_000, textOf),
  'JSON.parse': sized(parseOrders, 50_000, textOf),
  'JSON.stringify': sized(serializeOrders, 50_000, rows),
  'sort, inline comparator': sized(sortByComparator, 50_000, numbers, (list) =>
    sortByComparator(list.slice()),
  ),
  'sort, named comparator': sized(byName, 300_000, rows, (list) => list.slice().sort(byName)),
  strings: timed(joinText),
  'filling a Map': sized(fillMap, 100_000, same),
  structuredClone: sized(cloneState, 20_000, rows),
  BigInt: timed(sumBigInts),
  pbkdf2Sync: sized(derivePassword, 50_000, whole),
  scryptSync: sized(deriveScrypt, 1 << 14, powerOfTwo),
  'hash.update': timed(digestFiles),
  gzipSync: sized(compress, 2, copies),
  gunzipSync: timed(decompressAll),
  brotliCompressSync: sized(compressFast, 12, copies),
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

/** The next size is mostly the right one. */
const byTime = (n, millis) => n * Math.min(8, Math.max(1.3, (1.3 * CALL_MILLIS) / millis));
/**
 * A native call. More than `most` would need more memory or files than a test may take: such a call
 * may be shorter.
 */
const native = (run, size, make, { most = Infinity, grow = byTime } = {}) => ({
  ...sized(run, size, make, run, grow),
  most,
  leastMillis: CALL_MILLIS,
});
const SECONDS = CALL_MILLIS / 1e3;

/** By the built-in, as an attribute has to name it if it is wrapped. */
const nativeCalls = {
  'JSON.parse': native(parseText, 20_000, textOf),
  'JSON.stringify': native(writeText, 50_000, rows),
  structuredClone: native(cloneRows, 10_000, rows),
  'v8.serialize': native(serializeRows, 40_000, rows),
  'v8.deserialize': native(deserializeRows, 20_000, (n) => v8.serialize(rows(n))),
  'fs.readFileSync': native(readText, 16, (n) => written('text', words(n))),
  'fs.readFileSync of a buffer': native(readBytes, 48, (n) => written('bytes', filled('x')(n))),
  'fs.writeFileSync': native(writeBytes, 32, filled('x')),
  'fs.copyFileSync': native(copyBytes, 48, (n) => written('source', filled('x')(n))),
  'fs.readdirSync': native(listFolder, 40_000, manyFiles, { most: 200_000 }),
  'Hash.update': native(hashBytes, 64, wordsAsBytes),
  'Hmac.update': native(signBytes, 64, wordsAsBytes),
  'Cipher.update': native(encryptBytes, 32, filled('x')),
  'crypto.hash': native(digestBytes, 64, wordsAsBytes),
  'crypto.sign': native(signDocument, 64, wordsAsBytes),
  'crypto.randomBytes': native(makeNoise, 32, (n) => Math.floor(n * MIB)),
  'crypto.pbkdf2Sync': native(derivePassword, 50_000, whole),
  'crypto.scryptSync': native(deriveScrypt, 1 << 14, powerOfTwo),
  'crypto.generateKeyPairSync': native(makeKeys, 4, (n) => Math.min(8192, 512 * Math.ceil(n)), {
    most: 16,
  }),
  'zlib.gzipSync': native(compress, 8, wordsAsBytes),
  'zlib.gunzipSync': native(decompress, 16, (n) => zlib.gzipSync(wordsAsBytes(n), { level: 1 })),
  'zlib.brotliCompressSync': native(compressBrotli, 0.1, wordsAsBytes),
  'child_process.execSync': native(runShell, SECONDS, same),
  'child_process.execFileSync': native(runCommand, SECONDS, same),
  'child_process.spawnSync': native(spawnCommand, SECONDS, same),
  'Buffer.toString': native(decodeBuffer, 16, filled('ä')),
  'Buffer.from': native(encodeText, 32, words),
  'Buffer.concat': native(
    joinBuffers,
    128,
    (n) => Array.from({ length: n }, () => filled('x')(1)),
    {
      most: 700,
    },
  ),
  'Buffer.indexOf': native(findBytes, 32, filled('ab')),
  'TextDecoder.decode': native(decodeText, 16, filled('ä')),
  'TextEncoder.encode': native(encodeBytes, 32, (n) => 'ä'.repeat(n * MIB)),
  'Array.prototype.sort': native(sortNumbers, 50_000, numbers),
  'Array.prototype.join': native(joinNumbers, 100_000, numbers),
  'TypedArray.prototype.sort': native(sortFloats, 500_000, (n) => Float64Array.from(numbers(n))),
  'String.prototype.split': native(splitText, 8, words),
  'String.prototype.replace': native(replaceText, 8, words),
  'String.prototype.normalize': native(normalizeText, 1, (n) => 'ä'.repeat(n * MIB)),
  'RegExp.prototype.test': native(matchBackwards, 20, allA, { grow: oneMore }),
  'BigInt power': native(raise, 50_000, big),
  'BigInt.prototype.toString': native(printBigInt, 100_000, (n) => 3n ** big(n)),
  'vm.Script': native(
    compileText,
    20_000,
    (n) => `(() => {${'a({ b: [1, 2, 3] });'.repeat(n)}})();//`,
  ),
  'Object.entries': native(listEntries, 100_000, (n) =>
    Object.fromEntries(rows(n).map((each) => [each.name, each])),
  ),
  // Not of a Set: building one takes 40 times as long as the call.
  'Array.from': native(listOfLength, 200_000, (n) => ({ length: n })),
};

/**
 * The input with which this takes long enough, twice. Runs before the first turn of the loop, so it
 * is no block.
 */
function calibrate(blocker, now = () => performance.now()) {
  const { size, make, run, grow, most = Infinity, leastMillis = BLOCK_MILLIS } = blocker;
  if (size === undefined) return make();
  const took = (input) => {
    const start = now();
    run(input);
    return now() - start;
  };
  for (let n = size; ; ) {
    const input = make(n);
    const first = took(input);
    const millis = first < leastMillis ? first : took(input);
    if (millis >= leastMillis || n >= most) return input;
    n = Math.min(most, grow(n, millis));
  }
}

/**
 * The argument of `run`, made with the input that {@link calibrate} found: for those that run until
 * some time, that time.
 */
const argumentOf = (input, factor = 1) => input ?? after(factor * BLOCK_MILLIS);

/** Removes what the blockers have put on disk. */
const cleanUp = () => fs.rmSync(folder, { recursive: true, force: true });

module.exports = { BLOCK_MILLIS, argumentOf, blockers, calibrate, cleanUp, nativeCalls };
