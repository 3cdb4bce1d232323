// Guarantees: how far "without the stalls" is from what is measured without the blocker, and what
// routes are said to have waited from what their client waited, in services with one seeded blocker
// each; see README.md.
//
//   npm run bench -- without-stalls --services 10
//   npm run bench -- without-stalls --services 40 --seconds 20 --waits   # only the latter
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../tools/harness.cjs';
import { generator, median } from '../tools/statistics.cjs';

const SERVICE = join(import.meta.dirname, 'without-stalls/service.cjs');
/** Routes that only wait; each has a length of its own. */
const PATHS = ['/list', '/orders/1', '/users/1/cart'];
const ROUTES = ['GET /:route', 'GET /orders/:id', 'GET /users/:id/cart'];
const REQUESTS_PER_SECOND = 300;
const WARM_UP_REQUESTS = 200;
/** Of all requests of a route. */
const MIN_WAITED_MILLIS = 500;
/** A request that took this much longer than the usual one has waited. */
const MIN_EXCESS_MILLIS = 5;

/** @type {import('./support/registry.mjs').Bench} */
export default {
  name: 'without-stalls',
  about: 'how far the p99 "without the stalls" is from the p99 without the blocker',
  minutes: 4,
  options: {
    services: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '7' },
    waits: { type: 'boolean', default: false },
  },
  async run({ nodes, options, report }) {
    for (const { path, version } of nodes) {
      const rows = [];
      for (let seed = 1; seed <= Number(options.services); seed++)
        rows.push(...(await compare(path, seed, Number(options.seconds), options.waits)));
      report.table(
        `Node.js ${version}: what each route waited in all, ms`,
        ['service', 'connections', 'route', 'requests', 'by its client', 'told', 'off'],
        rows.map((row) => [
          `${row.seed}`,
          row.isKept ? 'kept' : 'new',
          row.route,
          String(row.waitedRequests),
          row.waited.toFixed(0),
          row.told.toFixed(0),
          percent(row.told / row.waited - 1),
        ]),
      );
      // By some seeds nothing blocks in that time.
      const wrong = rows
        .filter(({ waited }) => waited >= MIN_WAITED_MILLIS)
        .map(({ told, waited }) => Math.abs(told / waited - 1))
        .sort((a, b) => a - b);
      const at = (/** @type {number} */ share) => percent(wrong[Math.floor(wrong.length * share)]);
      const within = (/** @type {number} */ share) =>
        percent(wrong.filter((each) => each <= share).length / wrong.length);
      report.note(
        `what ${wrong.length} routes waited is off by ${at(0.5)} in the median, ` +
          `${at(0.9)} in nine of ten, ${percent(wrong.at(-1))} at most; ` +
          `${within(0.15)} are within 15 %, ${within(0.25)} within 25 %`,
      );
      if (!options.waits) reportPrediction(report, version, rows);
    }
  },
};

/** The p99 without the stalls, and without the blocker. */
function reportPrediction(
  /** @type {import('./support/report.mjs').Report} */ report,
  /** @type {string} */ version,
  /** @type {Awaited<ReturnType<typeof compare>>} */ rows,
) {
  report.table(
    `Node.js ${version}: p99 of each other route, ms`,
    ['service: blocker', 'route', 'as measured', 'without stalls', 'without blocker', 'off'],
    rows.map((row) => [
      `${row.seed}: ${row.blocker.millis.toFixed(0)} ms, ${row.blocker.perSecond.toFixed(1)}/s`,
      row.route,
      row.measured.toFixed(1),
      row.predicted.toFixed(1),
      row.removed.toFixed(1),
      `${(row.predicted - row.removed).toFixed(1)}`,
    ]),
    rows,
  );
  const off = rows
    .map(({ predicted, removed }) => Math.abs(predicted - removed))
    .sort((a, b) => a - b);
  const share = rows
    .map(({ predicted, removed }) => Math.abs(predicted / removed - 1))
    .sort((a, b) => a - b);
  const middle = Math.floor(off.length / 2);
  report.note(
    `off by ${off[middle]?.toFixed(1)} ms (${percent(share[middle])}) in the median, ` +
      `${off.at(-1)?.toFixed(1)} ms (${percent(share.at(-1))}) at most`,
  );
}

const percent = (share = Number.NaN) => `${(100 * share).toFixed(1)} %`;

/** The same requests at the same times, with the blocker and without it. */
async function compare(
  /** @type {string} */ node,
  /** @type {number} */ seed,
  /** @type {number} */ seconds,
  /** @type {boolean} */ isWithBlockerOnly,
) {
  const random = generator(seed);
  const blocker = { millis: 80 + 420 * random(), perSecond: 0.3 + 0.9 * random() };
  const requests = requestsOf(random, blocker, seconds);
  const isKept = seed % 2 === 1;
  const withBlocker = await summaryOf(node, 'blocks', requests, isKept);
  const without = isWithBlockerOnly ? undefined : await summaryOf(node, 'waits', requests, isKept);
  return ROUTES.map((route, i) => {
    const before = timesOf(withBlocker.summary, route);
    const ofRoute = withBlocker.latencies.filter(({ path }) => path.startsWith(`${PATHS[i]}?`));
    return {
      seed,
      blocker,
      isKept,
      route,
      ...waitedOf(ofRoute),
      told: before.stalledMillis + before.queuedMillis,
      queuedRequests: before.queuedRequests,
      measured: before.p99Millis,
      predicted: before.withoutStalls.p99Millis,
      removed: without && timesOf(without.summary, route).p99Millis,
    };
  });
}

/** By the client: how much longer requests took than they were asked to, and than is usual. */
function waitedOf(/** @type {{ path: string, millis: number }[]} */ latencies) {
  const excesses = latencies.map(({ path, millis }) => millis - Number(path.split('=')[1]));
  const usual = median(excesses);
  const long = excesses.map((excess) => excess - usual).filter((each) => each > MIN_EXCESS_MILLIS);
  return { waited: long.reduce((sum, each) => sum + each, 0), waitedRequests: long.length };
}

function timesOf(/** @type {any} */ summary, /** @type {string} */ name) {
  return summary.routes.find((/** @type {any} */ { route }) => route === name);
}

/** What comes when, and how long it waits: as by chance, but the same for the same seed. */
function requestsOf(
  /** @type {() => number} */ random,
  /** @type {{ millis: number, perSecond: number }} */ blocker,
  /** @type {number} */ seconds,
) {
  const base = PATHS.map(() => 3 + 40 * random());
  const requests = [];
  const perSecond = REQUESTS_PER_SECOND + blocker.perSecond;
  for (let at = 0; at < seconds * 1000; at += (-Math.log(1 - random()) * 1000) / perSecond) {
    const which = Math.floor(random() * PATHS.length);
    // Between half and some times the usual, as lengths of requests are.
    const millis = /** @type {number} */ (base[which]) * Math.exp(1.2 * (random() - 0.5));
    const isBlocker = random() < blocker.perSecond / perSecond;
    const path = isBlocker ? '/blocker' : PATHS[which];
    requests.push({ at, path: `${path}?millis=${isBlocker ? blocker.millis : millis}` });
  }
  return requests;
}

/** Of a process of its own, at its end. */
async function summaryOf(
  /** @type {string} */ node,
  /** @type {'blocks' | 'waits'} */ mode,
  /** @type {{ at: number, path: string }[]} */ requests,
  /** @type {boolean} */ isKept,
) {
  const child = fork(SERVICE, [mode], {
    execPath: node,
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  });
  let stderr = '';
  child.stderr?.on('data', (data) => {
    stderr += data;
  });
  const port = await messageOf(child);
  const agent = new Agent({ keepAlive: isKept, maxSockets: Number.POSITIVE_INFINITY });
  const send = (/** @type {string} */ path) =>
    new Promise((resolve, reject) => {
      get({ port, host: '127.0.0.1', agent, path }, (response) =>
        response.resume().on('end', resolve),
      ).on('error', reject);
    });
  for (let i = 0; i < WARM_UP_REQUESTS; i++) await send('/a/b/c/not-there');
  const start = performance.now();
  const answers = [];
  /** @type {{ path: string, millis: number }[]} */
  const latencies = [];
  const timed = async (/** @type {string} */ path) => {
    const sentAt = performance.now();
    await send(path);
    latencies.push({ path, millis: performance.now() - sentAt });
  };
  for (const { at, path } of requests) {
    const left = start + at - performance.now();
    if (left > 0) await sleep(left);
    answers.push(timed(path));
  }
  await Promise.all(answers);
  agent.destroy();
  child.send('end');
  await once(child, 'close');
  return { summary: JSON.parse(stderr.trim().split('\n').at(-1) ?? ''), latencies };
}
