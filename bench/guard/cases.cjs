// What the guard watches: healthy code, of which no piece takes a third of the threshold, and the
// same code in which one piece takes twice the threshold. One file for all test runners. Every
// verdict is a line of the results.
const { appendFileSync, readFileSync } = require('node:fs');
const { createServer, get } = require('node:http');
const { setImmediate: nextIteration, setTimeout: delay } = require('node:timers/promises');
const { pieces } = require('./pieces.cjs');

const { GUARD_SETUP = '' } = process.env;
const { thresholdMillis, unitsPerMilli, results } = JSON.parse(readFileSync(GUARD_SETUP, 'utf8'));
/** The longest piece of healthy code, and each of several small ones. */
const HEALTHY_MILLIS = 0.3 * thresholdMillis;
const SMALL_MILLIS = 0.2 * thresholdMillis;
const REGRESSION_MILLIS = 2 * thresholdMillis;

/** For how long the thread ran, and for how long it waited for a CPU. */
const threadTimes = () =>
  readFileSync('/proc/thread-self/schedstat', 'latin1')
    .split(' ')
    .map((nanos) => Number(nanos) / 1e6);

/** @type {{ name: string, millis: number, cpuMillis: number, waitedMillis: number }[]} */
let ran = [];

/** @param {keyof typeof pieces} name @param {number} millis on the quiet machine */
function run(name, millis) {
  const [cpu, waited] = threadTimes();
  const start = performance.now();
  pieces[name](Math.ceil(millis * unitsPerMilli[name]));
  const took = performance.now() - start;
  const [cpuAfter, waitedAfter] = threadTimes();
  ran.push({ name, millis: took, cpuMillis: cpuAfter - cpu, waitedMillis: waitedAfter - waited });
}

/** @type {Record<string, (longest: number) => unknown>} by name: code whose longest piece is given */
const shapes = {
  loop: (longest) => run('hashRows', longest),
  sort: (longest) => run('sortRows', longest),
  'JSON.parse': (longest) => run('parseRows', longest),
  'garbage collection': (longest) => run('allocateRows', longest),
  pbkdf2Sync: (longest) => run('deriveKey', longest),
  async microtasks(longest) {
    for (let i = 0; i < 10; i++) {
      await undefined;
      run('hashRows', longest / 10);
    }
  },
  async steps(longest) {
    for (let i = 0; i < 6; i++) {
      await nextIteration();
      run('hashRows', i === 3 ? longest : SMALL_MILLIS);
    }
  },
  /** On a quiet machine one after the other. */
  timers: (longest) =>
    Promise.all(
      Array.from({ length: 6 }, async (_, i) => {
        await delay(1 + i * 1.5 * SMALL_MILLIS);
        run('hashRows', i === 3 && longest > thresholdMillis ? longest : SMALL_MILLIS);
      }),
    ),
  async requests(longest) {
    let requests = 0;
    const server = createServer((_request, response) => {
      run('hashRows', ++requests === 5 ? longest : SMALL_MILLIS);
      response.end('report');
    });
    await new Promise((resolve) => server.listen(0, () => resolve(undefined)));
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
    const ask = () =>
      new Promise((resolve, reject) => {
        get({ port, agent: false }, (response) => {
          response.resume().on('end', resolve);
        }).on('error', reject);
      });
    for (let i = 0; i < 5; i++) await Promise.all([ask(), ask()]);
    server.close();
  },
};

const NAMES = Object.keys(shapes);

/**
 * @param {number} index
 * @param {boolean} isRegression
 */
async function judge(index, isRegression) {
  const { expectNoBlocks } = require('opentelemetry-instrumentation-event-loop/testing');
  const name = NAMES[index % NAMES.length];
  const longest = isRegression ? REGRESSION_MILLIS : HEALTHY_MILLIS;
  ran = [];
  const start = performance.now();
  let blocks;
  let message;
  try {
    await expectNoBlocks(() => shapes[name](longest), { thresholdMillis });
  } catch (error) {
    const failure = /** @type {any} */ (error);
    if (failure.name !== 'EventLoopBlockedError') throw error;
    ({ blocks, message } = failure);
  }
  const took = performance.now() - start;
  const runner = process.env.GUARD_RUNNER;
  const verdict = { index, name, runner, isRegression, took, ran, blocks, message };
  appendFileSync(results, `${JSON.stringify(verdict)}\n`);
}

/**
 * Defines a test for each of the cases that this process is given.
 * @param {(name: string, run: () => Promise<void>) => void} test
 */
exports.define = (test) => {
  const { GUARD_CASES = '' } = process.env;
  const [from, until, every] = GUARD_CASES.split(' ').map(Number);
  for (let i = from; i < until; i++) {
    // The regressions are spread evenly among the healthy runs.
    const isRegression = every > 0 && i % every === every - 1;
    const regressions = every > 0 ? Math.floor(i / every) : 0;
    const index = isRegression ? regressions : i - regressions;
    test(`${i}`, () => judge(index, isRegression));
  }
};
exports.NAMES = NAMES;
