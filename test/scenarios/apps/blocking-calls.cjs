// What blocks the event loop without being a loop in the app's own code, each call alone in a span
// of its name.
const { execSync } = require('node:child_process');
const { pbkdf2Sync, randomBytes } = require('node:crypto');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { gzipSync } = require('node:zlib');
const { running, unstarvedMillis } = require('../../support/thread-times.cjs');
const { alone, inSpan, main, startInstrumented, truthOf } = require('./support/telemetry.cjs');

/** Of a threshold of 60: the machine may be twice as fast when it matters. */
const BLOCK_MILLIS = 130;

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'blocking-calls-'));
const file = path.join(folder, 'data');
const row = { id: 12345, name: 'customer', tags: ['new', 'paid'], nested: { amount: 12.5 } };
const bytes = randomBytes(1 << 20);
fs.writeFileSync(file, bytes);

let modules = 0;
/** A module of so many functions that nothing has loaded yet. */
function makeModule(functions) {
  const name = path.join(folder, `module-${++modules}.cjs`);
  const lines = Array.from(
    { length: functions },
    (_, i) => `exports.f${i} = function (a) { return [a, ${i}, '${i}']; };`,
  );
  fs.writeFileSync(name, lines.join('\n'));
  return name;
}

/** One file of a size that blocks this long would be bigger than a disk should be asked for. */
const repeatFor = (millis, call) => {
  for (const goesOn = running(millis); goesOn(); ) call();
};

/**
 * Each with the size to begin with, by how much it grows, what is made before, and what blocks the
 * event loop.
 */
const calls = {
  regex: { size: 22, grow: (n) => n + 1, run: (n) => /^(a+)+$/.test(`${'a'.repeat(n)}b`) },
  'JSON.stringify': {
    size: 100_000,
    make: (n) => Array(n).fill(row),
    run: (rows) => JSON.stringify(rows),
  },
  readFileSync: {
    size: BLOCK_MILLIS,
    run: (millis) => repeatFor(millis, () => fs.readFileSync(file)),
  },
  gzipSync: {
    size: 2,
    make: (n) => Buffer.concat(Array(n).fill(bytes)),
    run: (input) => gzipSync(input),
  },
  pbkdf2Sync: { size: 50_000, run: (n) => pbkdf2Sync('secret', 'salt', n, 64, 'sha512') },
  sort: {
    size: 200_000,
    make: (n) => Array.from({ length: n }, Math.random),
    run: (list) => list.sort((a, b) => a - b),
  },
  require: { size: 10_000, make: makeModule, run: (name) => require(name) },
  execSync: { size: BLOCK_MILLIS / 1e3, run: (seconds) => execSync(`sleep ${seconds}`) },
};

/**
 * The argument with which this call takes long enough, twice. This runs before the first turn of
 * the loop, so it is no block.
 */
function calibrate({ size, grow = (n) => n * 2, make = (n) => n, run }) {
  const takesLongEnough = (input) => {
    const start = unstarvedMillis();
    run(input);
    return unstarvedMillis() - start >= BLOCK_MILLIS;
  };
  for (let n = size; ; n = grow(n))
    if (takesLongEnough(make(n)) && takesLongEnough(make(n))) return make(n);
}

const { sdk } = startInstrumented({ thresholdMillis: 60 });
const inputs = Object.entries(calls).map(([name, call]) => [name, call.run, calibrate(call)]);

main(sdk, async () => {
  for (const [name, run, input] of inputs) {
    await alone(() =>
      inSpan(name, () => {
        truthOf(name, () => run(input), { waits: name === 'execSync' });
      }),
    );
  }
  fs.rmSync(folder, { recursive: true });
});
