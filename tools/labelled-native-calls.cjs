// @ts-nocheck: these are functions as applications have them.
/**
 * Built-in functions that take long in a single call, each called in the last expression of a
 * function: V8 answers an interrupt when a function is called or a loop turns, and by then the
 * function that made the call is gone from the stack.
 */
const childProcess = require('node:child_process');
const crypto = require('node:crypto');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const v8 = require('node:v8');
const vm = require('node:vm');
const zlib = require('node:zlib');

/** How long each call has to take, at least. */
const CALL_MILLIS = Number(process.env.CALL_MILLIS ?? 75);
const MIB = 1 << 20;

/** In memory where there is such a place: thousands of files are made. */
const TEMPORARY = fs.existsSync('/dev/shm') ? '/dev/shm' : os.tmpdir();
const folder = fs.mkdtempSync(path.join(TEMPORARY, 'native-calls-'));
const fileOf = (name) => path.join(folder, name);
const row = (_, id) => ({
  id,
  name: `customer ${id}`,
  tags: ['new', 'paid'],
  nested: { amount: id * 1.5 },
});
const rows = (n) => Array.from({ length: n }, row);
const numbers = (n) => Array.from({ length: n }, Math.random);
/** Text of `n` MiB that does not compress to nothing. */
const words = (n) =>
  Array.from({ length: Math.ceil(n * 64) }, (_, i) => `${Math.sqrt(i + 2)} `.repeat(910)).join('');
const bytes = (n) => Buffer.from(words(n), 'latin1');
const written = (name, content) => {
  fs.writeFileSync(fileOf(name), content);
  return fileOf(name);
};
/** Makes every text another one: V8 keeps what it has compiled. */
let compiled = 0;
const decoder = new TextDecoder();
const encoder = new TextEncoder();
const key = Buffer.alloc(32, 1);
const { privateKey } = crypto.generateKeyPairSync('ec', { namedCurve: 'P-256' });

/**
 * `call`: the built-in as an attribute has to name it, if it is wrapped; `run`: the function
 * that has to be named.
 */
const nativeCalls = {
  'JSON.parse': [
    (n) => JSON.stringify(rows(n)),
    20_000,
    function parseText(text) {
      return JSON.parse(text);
    },
  ],
  'JSON.stringify': [
    rows,
    50_000,
    function writeText(list) {
      return JSON.stringify(list);
    },
  ],
  structuredClone: [
    rows,
    10_000,
    function cloneRows(list) {
      return structuredClone(list);
    },
  ],
  'v8.serialize': [
    rows,
    40_000,
    function serializeRows(list) {
      return v8.serialize(list);
    },
  ],
  'v8.deserialize': [
    (n) => v8.serialize(rows(n)),
    20_000,
    function deserializeRows(buffer) {
      return v8.deserialize(buffer);
    },
  ],
  'fs.readFileSync': [
    (n) => written('text', words(n)),
    16,
    function readText(file) {
      return fs.readFileSync(file, 'utf8');
    },
  ],
  'fs.readFileSync of a buffer': [
    (n) => written('bytes', Buffer.alloc(n * MIB, 'x')),
    48,
    function readBytes(file) {
      return fs.readFileSync(file);
    },
  ],
  'fs.writeFileSync': [
    (n) => Buffer.alloc(n * MIB, 'x'),
    32,
    function writeBytes(buffer) {
      return fs.writeFileSync(fileOf('written'), buffer);
    },
  ],
  'fs.copyFileSync': [
    (n) => written('source', Buffer.alloc(n * MIB, 'x')),
    48,
    function copyBytes(file) {
      return fs.copyFileSync(file, fileOf('copied'));
    },
  ],
  'fs.readdirSync': [
    (n) => {
      fs.mkdirSync(fileOf('many'), { recursive: true });
      for (let i = 0; i < n; i++)
        fs.closeSync(fs.openSync(path.join(fileOf('many'), `file-${i}`), 'w'));
      return fileOf('many');
    },
    40_000,
    function listFolder(directory) {
      return fs.readdirSync(directory);
    },
  ],
  'Hash.update': [
    bytes,
    64,
    function hashBytes(buffer) {
      return crypto.createHash('sha256').update(buffer);
    },
  ],
  'Hmac.update': [
    bytes,
    64,
    function signBytes(buffer) {
      return crypto.createHmac('sha256', key).update(buffer);
    },
  ],
  'Cipher.update': [
    (n) => Buffer.alloc(n * MIB, 'x'),
    32,
    function encryptBytes(buffer) {
      return crypto.createCipheriv('aes-256-cbc', key, key.subarray(0, 16)).update(buffer);
    },
  ],
  'crypto.hash': [
    bytes,
    64,
    function digestBytes(buffer) {
      return crypto.hash('sha256', buffer);
    },
  ],
  'crypto.sign': [
    bytes,
    64,
    function signDocument(buffer) {
      return crypto.sign('sha256', buffer, privateKey);
    },
  ],
  'crypto.randomBytes': [
    (n) => Math.floor(n * MIB),
    32,
    function makeNoise(size) {
      return crypto.randomBytes(size);
    },
  ],
  'crypto.pbkdf2Sync': [
    (n) => Math.floor(n),
    50_000,
    function derivePassword(iterations) {
      return crypto.pbkdf2Sync('secret', 'salt', iterations, 64, 'sha512');
    },
  ],
  'crypto.scryptSync': [
    (n) => 1 << Math.ceil(Math.log2(n)),
    1 << 14,
    function deriveScrypt(cost) {
      return crypto.scryptSync('secret', 'salt', 64, { N: cost, r: 8, maxmem: 1 << 30 });
    },
  ],
  'crypto.generateKeyPairSync': [
    (n) => Math.min(8192, 512 * Math.ceil(n)),
    4,
    function makeKeys(modulusLength) {
      return crypto.generateKeyPairSync('rsa', { modulusLength });
    },
  ],
  'zlib.gzipSync': [
    bytes,
    8,
    function compress(buffer) {
      return zlib.gzipSync(buffer);
    },
  ],
  'zlib.gunzipSync': [
    (n) => zlib.gzipSync(bytes(n), { level: 1 }),
    16,
    function decompress(buffer) {
      return zlib.gunzipSync(buffer);
    },
  ],
  'zlib.brotliCompressSync': [
    bytes,
    0.1,
    function compressBrotli(buffer) {
      return zlib.brotliCompressSync(buffer);
    },
  ],
  'child_process.execSync': [
    (n) => n,
    CALL_MILLIS / 1e3,
    function runShell(seconds) {
      return childProcess.execSync(`sleep ${seconds}`);
    },
  ],
  'child_process.execFileSync': [
    (n) => n,
    CALL_MILLIS / 1e3,
    function runFile(seconds) {
      return childProcess.execFileSync('sleep', [String(seconds)]);
    },
  ],
  'child_process.spawnSync': [
    (n) => n,
    CALL_MILLIS / 1e3,
    function spawnCommand(seconds) {
      return childProcess.spawnSync('sleep', [String(seconds)]);
    },
  ],
  'Buffer.toString': [
    (n) => Buffer.alloc(n * MIB, 'ä'),
    16,
    function decodeBuffer(buffer) {
      return buffer.toString();
    },
  ],
  'Buffer.from': [
    words,
    32,
    function encodeText(text) {
      return Buffer.from(text, 'base64');
    },
  ],
  'Buffer.concat': [
    (n) => Array.from({ length: n }, () => Buffer.alloc(MIB, 'x')),
    128,
    function joinBuffers(list) {
      return Buffer.concat(list);
    },
  ],
  'Buffer.indexOf': [
    (n) => Buffer.alloc(n * MIB, 'ab'),
    32,
    function findBytes(buffer) {
      return buffer.indexOf('abac');
    },
  ],
  'TextDecoder.decode': [
    (n) => Buffer.alloc(n * MIB, 'ä'),
    16,
    function decodeText(buffer) {
      return decoder.decode(buffer);
    },
  ],
  'TextEncoder.encode': [
    (n) => 'ä'.repeat(n * MIB),
    32,
    function encodeBytes(text) {
      return encoder.encode(text);
    },
  ],
  'Array.prototype.sort': [
    numbers,
    50_000,
    function sortNumbers(list) {
      return list.slice().sort();
    },
  ],
  'Array.prototype.join': [
    numbers,
    100_000,
    function joinNumbers(list) {
      return list.join();
    },
  ],
  'TypedArray.prototype.sort': [
    (n) => Float64Array.from(numbers(n)),
    500_000,
    function sortFloats(list) {
      return list.slice().sort();
    },
  ],
  'String.prototype.split': [
    words,
    8,
    function splitText(text) {
      return text.split(' ');
    },
  ],
  'String.prototype.replace': [
    words,
    8,
    function replaceText(text) {
      return text.replace(/ /g, ', ');
    },
  ],
  'String.prototype.normalize': [
    (n) => 'ä'.repeat(n * MIB),
    1,
    function normalizeText(text) {
      return text.normalize('NFD');
    },
  ],
  'RegExp.prototype.test': [
    (n) => `${'a'.repeat(n)}b`,
    20,
    function matchBackwards(text) {
      return /^(a+)+$/.test(text);
    },
  ],
  'BigInt power': [
    (n) => BigInt(Math.floor(n)),
    50_000,
    function raise(exponent) {
      return 1_000_003n ** exponent;
    },
  ],
  'BigInt.prototype.toString': [
    (n) => 3n ** BigInt(Math.floor(n)),
    100_000,
    function printBigInt(big) {
      return big.toString();
    },
  ],
  'vm.Script': [
    (n) => `(() => {${'a({ b: [1, 2, 3] });'.repeat(n)}})();//`,
    20_000,
    function compileText(text) {
      return new vm.Script(text + compiled++, { produceCachedData: true });
    },
  ],
  'Object.entries': [
    (n) => Object.fromEntries(rows(n).map((each) => [each.name, each])),
    100_000,
    function listEntries(map) {
      return Object.entries(map);
    },
  ],
  'Array.from': [
    // Not of a Set: building one takes 40 times as long as the call.
    (n) => ({ length: n }),
    200_000,
    function listOfLength(like) {
      return Array.from(like);
    },
  ],
};

const LIMITS = { 'RegExp.prototype.test': (n) => n + 1 };
/** More of it would need more memory or files than a test may take: such a call may be shorter. */
const MOST_SIZE = {
  'crypto.generateKeyPairSync': 16,
  'fs.readdirSync': 200_000,
  'Buffer.concat': 700,
};

/** What is aimed at, of `CALL_MILLIS`: the next size is mostly the right one. */
const AIM = 1.3;
const [MIN_GROWTH, MAX_GROWTH] = [1.3, 8];

/** The input with which the call takes long enough, twice. */
function calibrate(name, now = () => performance.now()) {
  const [make, size, run] = nativeCalls[name];
  const took = (input) => {
    const start = now();
    run(input);
    return now() - start;
  };
  const grow =
    LIMITS[name] ??
    ((n, millis) => n * Math.min(MAX_GROWTH, Math.max(MIN_GROWTH, (AIM * CALL_MILLIS) / millis)));
  const most = MOST_SIZE[name] ?? Infinity;
  for (let n = size; ; ) {
    const input = make(n);
    const first = took(input);
    const millis = first < CALL_MILLIS ? first : took(input);
    if (millis >= CALL_MILLIS || n >= most) return input;
    n = Math.min(most, grow(n, millis));
  }
}

/** Removes what the calls have put on disk. */
const cleanUp = () => fs.rmSync(folder, { recursive: true, force: true });

module.exports = { CALL_MILLIS, calibrate, cleanUp, nativeCalls };
