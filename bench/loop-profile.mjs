// Guarantees: whether the loop profile is right; see README.md. A service whose
// loop is busy for nine tenths of the time, without a block: its shares beside V8's own profiler,
// and the order of its routes after a minute.
//
//   npm run bench -- loop-profile                  # shares after ten minutes
//   npm run bench -- loop-profile --runs 20        # the order after a minute
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sendOk } from '../tools/http-client.cjs';
import { sharesIn } from './loop-profile/cpu-profile.mjs';

const SERVICE = join(import.meta.dirname, 'loop-profile', 'service.cjs');
/** Of 100 requests. */
const MIX = { '/list': 40, '/search': 22, '/users/1': 13, '/report': 7, '/sign': 9, '/feed': 9 };
const ROUTES = new Map([
  ['/list', 'handleList'],
  ['/search', 'handleSearch'],
  ['/users/:id', 'handleUser'],
  ['/report', 'handleReport'],
  ['/sign', 'handleSign'],
  ['/feed', 'handleFeed'],
]);
const CALLED_BY = new Map([
  ['handleList', 'renderList'],
  ['handleSearch', 'searchRows'],
  ['handleUser', 'loadUser'],
  ['handleReport', 'sortReport'],
  ['handleSign', 'signToken'],
  ['handleFeed', 'digestFeed'],
]);
/** Clients that wait for their answer, and then for so long on average. */
const CLIENTS = 4;
const THINK_MILLIS = 25;
/** Until V8 has compiled what runs, and half of the last 5 seconds were busy. */
const WARM_UP_MILLIS = 8000;
const ORDER_MILLIS = 60_000;
/** What V8 puts into its caller has no frame of its own for either profiler. */
const NOT_INLINED = ['--max-inlined-bytecode-size=0', '--max-inlined-bytecode-size-cumulative=0'];
/** Shares above it are compared, and may differ by less than MAX_ERROR. */
const MIN_SHARE = 0.05;
const MAX_ERROR = 0.03;

/** @type {import('./support/registry.mjs').Bench} */
export default {
  name: 'loop-profile',
  about: 'shares of the loop profile beside --cpu-prof, the order of routes',
  minutes: 11,
  options: {
    seconds: { type: 'string', default: '600' },
    inlining: { type: 'boolean', default: false },
    runs: { type: 'string', default: '0' },
    parallel: { type: 'string', default: '1' },
  },
  async run({ nodes, options, report }) {
    for (const node of nodes) {
      if (Number(options.runs) > 0) await order(node, options, report);
      else await shares(node, options, report);
    }
  },
};

async function shares(node, { seconds, inlining }, report) {
  const flags = inlining ? [] : NOT_INLINED;
  const { before, after, truth } = await measure(node, WARM_UP_MILLIS, 1000 * seconds, flags);
  const counted = difference(after.points, before.points);
  const samples = after.profile.samples;
  const functions = comparison(truth.functions, by(counted, 'code.function.name'));
  // What a framework does before and after the handler has a route, and no handler on the stack:
  // both are shares of what they have.
  const found = ofAll(by(counted, 'http.route'));
  const handlers = ofAll(truth.handlers);
  const routes = [...ROUTES].map(([route, handler]) => ({
    name: route,
    truth: handlers.get(handler) ?? 0,
    found: found.get(route) ?? 0,
  }));
  const utilization = busyShare(before, after);
  report.table(
    `Node.js ${node.version}: ${seconds} s, utilization ${percent(utilization)}, ` +
      `${samples} samples in the last 5 minutes`,
    ['share of the busy time', '--cpu-prof', 'loop profile', 'difference'],
    [...functions, ...routes].map(({ name, truth: expected, found }) => [
      name,
      percent(expected),
      percent(found),
      percent(found - expected),
    ]),
    { functions, routes, samples, utilization },
  );
  const compared = [...functions, ...routes].filter(({ truth: share }) => share >= MIN_SHARE);
  const wrong = compared.filter(({ truth: share, found }) => Math.abs(found - share) >= MAX_ERROR);
  report.note(
    `${compared.length} shares of 5 % and more, ${wrong.length} of them wrong by 3 points or more`,
  );
}

async function order(node, { runs, parallel }, report) {
  const outcomes = [];
  while (outcomes.length < Number(runs)) {
    const missing = Math.min(Number(parallel), Number(runs) - outcomes.length);
    outcomes.push(...(await Promise.all(Array.from({ length: missing }, () => orderOnce(node)))));
  }
  report.table(
    `Node.js ${node.version}: the routes after a minute`,
    ['run', 'utilization', 'samples', 'by --cpu-prof', 'by the loop profile', 'right'],
    outcomes.map(({ utilization, samples, truth, found, isRight }, i) => [
      String(i + 1),
      percent(utilization),
      String(samples),
      truth,
      found,
      isRight ? 'yes' : 'NO',
    ]),
    outcomes,
  );
  const right = outcomes.filter(({ isRight }) => isRight).length;
  report.note(`the three heaviest routes in the right order: ${right} of ${outcomes.length} runs`);
}

/** From the first request on. */
async function orderOnce(node) {
  const { before, after, truth: seen } = await measure(node, 0, ORDER_MILLIS - 100);
  const truth = heaviest(
    [...ROUTES].map(([name, key]) => ({ name, share: seen.handlers.get(key) ?? 0 })),
  );
  const { profile } = after;
  const found = heaviest(
    profile.operations
      .filter(({ httpRoute }) => httpRoute !== undefined)
      .map(({ httpRoute, share }) => ({ name: httpRoute, share })),
  );
  return {
    utilization: busyShare(before, after),
    samples: profile.samples,
    truth: shown(truth),
    found: shown(found),
    isRight: truth.every(({ name }, i) => found[i]?.name === name),
  };
}

/** Two readings of a service under load, and V8's shares of the time between them. */
async function measure(node, warmUpMillis, millis, flags = []) {
  const folder = mkdtempSync(join(tmpdir(), 'loop-profile-'));
  try {
    const service = await start(node.path, folder, flags);
    await sleep(warmUpMillis);
    const before = await service.read();
    await sleep(millis);
    const after = await service.read();
    return { before, after, truth: await service.end(before, after) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A service with `--cpu-prof` in `folder`, under load. */
async function start(path, folder, execArgv) {
  const flags = ['--cpu-prof', `--cpu-prof-dir=${folder}`, ...execArgv];
  const child = fork(SERVICE, { execPath: path, execArgv: flags });
  const [{ port }] = await once(child, 'message');
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  let isOn = true;
  const routes = Object.entries(MIX).flatMap(([route, weight]) => Array(weight).fill(route));
  const running = Array.from({ length: CLIENTS }, async () => {
    while (isOn) {
      const route = routes[Math.floor(Math.random() * routes.length)];
      await sendOk(`http://127.0.0.1:${port}${route}`, { agent });
      await sleep(-Math.log(1 - Math.random()) * THINK_MILLIS);
    }
  });
  return {
    async read() {
      child.send('read');
      return (await once(child, 'message'))[0];
    },
    /** @returns the shares between two readings, by V8's profile */
    async end(before, after) {
      isOn = false;
      await Promise.all(running);
      agent.destroy();
      child.send('end');
      await once(child, 'exit');
      const file = join(folder, readdirSync(folder)[0]);
      return sharesIn(CALLED_BY, file, 'service.cjs', before.micros, after.micros);
    },
  };
}

const keyOf = ({ attributes }) => JSON.stringify(Object.entries(attributes).sort());

function difference(after, before) {
  const earlier = new Map(before.map((point) => [keyOf(point), point.value]));
  return after.map((point) => ({
    ...point,
    value: point.value - (earlier.get(keyOf(point)) ?? 0),
  }));
}

/** Shares by one attribute. */
function by(points, attribute) {
  const total = points.reduce((sum, { value }) => sum + value, 0);
  const sums = new Map();
  for (const { attributes, value } of points) {
    const key = attributes[attribute];
    if (key !== undefined) sums.set(key, (sums.get(key) ?? 0) + value / total);
  }
  return sums;
}

function ofAll(shares) {
  const total = [...shares.values()].reduce((sum, share) => sum + share, 0);
  return new Map([...shares].map(([key, share]) => [key, share / total]));
}

function comparison(truth, found) {
  return [...truth]
    .sort(([, a], [, b]) => b - a)
    .filter(([, share]) => share >= 0.01)
    .map(([name, share]) => ({ name, truth: share, found: found.get(name) ?? 0 }));
}

function heaviest(shares) {
  return shares.sort((a, b) => b.share - a.share).slice(0, 3);
}

const shown = (shares) => shares.map(({ name, share }) => `${name} ${percent(share)}`).join(', ');
const percent = (share) => `${(100 * share).toFixed(1)} %`;

function busyShare(before, after) {
  const elapsed = after.now - before.now;
  return 1 - (after.idle - before.idle) / elapsed;
}
