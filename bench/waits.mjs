// Guarantees: how far what requests are said to have waited is from what their clients waited, by
// route and by place, in services with clients of several kinds; see README.md.
//
//   npm run bench -- waits --services 40 --seconds 12
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { connect } from 'node:http2';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../tools/harness.cjs';
import { generator } from '../tools/statistics.cjs';

const SERVICE = join(import.meta.dirname, 'waits/service.cjs');
const ENTRY = 'opentelemetry-instrumentation-event-loop/console';
const PATHS = ['/fast', '/slow'];
/** How a client sends, and over which connections; each is combined with each other. */
const LOOPS = ['closed', 'open'];
const CONNECTIONS = ['kept', 'new', 'HTTP/2'];
/** The loop settles before. */
const WARM_UP_MILLIS = 1000;
/** Fewer say little. */
const MIN_QUEUED = 40;

/** @typedef {{ path: string, start: number, end: number }} Sent */
/** @typedef {{ name: string, start: number, end: number }} Blocked */

/** @type {import('./support/registry.mjs').Bench} */
export default {
  name: 'waits',
  about: 'what requests are said to have waited, and what their clients waited',
  minutes: 9,
  options: {
    services: { type: 'string', default: '40' },
    first: { type: 'string', default: '0' },
    seconds: { type: 'string', default: '12' },
  },
  async run({ nodes, options, report }) {
    for (const { path, version } of nodes) {
      const rows = [];
      for (let i = 0; i < Number(options.services); i++)
        rows.push(...(await compare(path, Number(options.first) + i, Number(options.seconds))));
      report.table(
        `Node.js ${version}: what requests waited in all, ms`,
        ['service', 'clients', 'of', 'queued', 'by the clients', 'told', 'off'],
        rows.map(({ seed, kind, of, queued, waited, told }) => [
          String(seed),
          kind,
          of,
          String(queued),
          waited.toFixed(0),
          told.toFixed(0),
          percent(told / waited - 1),
        ]),
        rows,
      );
      const known = rows.filter(({ queued }) => queued >= MIN_QUEUED);
      const off = known
        .map(({ told, waited }) => Math.abs(told / waited - 1))
        .sort((a, b) => a - b);
      const sum = (/** @type {'told' | 'waited'} */ name) =>
        rows.reduce((all, row) => all + row[name], 0);
      const kinds = [...new Set(known.map(({ kind }) => kind))].map((kind) => {
        const of = known.filter((row) => row.kind === kind);
        const wrong = of.filter(({ told, waited }) => Math.abs(told / waited - 1) > 0.15);
        return `${kind} ${wrong.length} of ${of.length}`;
      });
      report.note(
        `${off.length} routes and places with ${MIN_QUEUED} queued requests or more: off by ` +
          `${percent(off[off.length >> 1])} in the median, ` +
          `${percent(off[Math.floor(off.length * 0.9)])} in nine of ten, ` +
          `${percent(off.at(-1))} at most; the sum by ${percent(sum('told') / sum('waited') - 1)}; ` +
          `by more than 15 %: ${kinds.join(', ')}`,
      );
    }
  },
};

async function compare(
  /** @type {string} */ node,
  /** @type {number} */ seed,
  /** @type {number} */ seconds,
) {
  const random = generator(seed + 1);
  const loop = /** @type {string} */ (LOOPS[seed % LOOPS.length]);
  const connections = /** @type {string} */ (
    CONNECTIONS[Math.floor(seed / LOOPS.length) % CONNECTIONS.length]
  );
  const blockers = [
    { name: 'short', millis: 60 + 90 * random(), every: 300 + 700 * random() },
    { name: 'long', millis: 150 + 450 * random(), every: 800 + 1200 * random() },
  ];
  const args = [connections === 'HTTP/2' ? '2' : '1', JSON.stringify(blockers)];
  const child = fork(SERVICE, args, {
    execPath: node,
    execArgv: connections === 'HTTP/2' ? [] : ['--import', ENTRY],
    env: {
      ...process.env,
      OTEL_INSTRUMENTATION_EVENT_LOOP_CONSOLE: 'json',
      OTEL_INSTRUMENTATION_EVENT_LOOP_THRESHOLD_MILLIS: '50',
    },
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  });
  let stderr = '';
  child.stderr?.on('data', (data) => {
    stderr += data;
  });
  const port = await messageOf(child);
  const client = clientOf(port, connections);
  await sleep(WARM_UP_MILLIS / 2);
  const sent = await (loop === 'closed' ? closedLoop : openLoop)(client, random, seconds);
  await client.close();
  child.send('end');
  const blocked = /** @type {Blocked[]} */ (await messageOf(child));
  await once(child, 'close');
  const summary = JSON.parse(stderr.trim().split('\n').at(-1) ?? '');
  const kind = `${loop}, ${connections}`;
  return [
    ...PATHS.map((path) => {
      const times = summary.routes.find((/** @type {any} */ { route }) => route === `GET ${path}`);
      const waited = waitedOf(sent, blocked, ({ path: of }) => of === path);
      const told = times.stalledMillis + times.queuedMillis;
      return { seed, kind, of: path, queued: times.queuedRequests, waited, told };
    }),
    ...blockers.map(({ name }) => {
      const place = summary.places.find((/** @type {any} */ { functionName: of }) =>
        of?.endsWith(name),
      );
      const { queuedRequests: queued = 0, stalledMillis = 0, queuedMillis = 0 } = place ?? {};
      const waited = waitedOf(sent, blocked, (_, block) => block.name === name);
      return { seed, kind, of: name, queued, waited, told: stalledMillis + queuedMillis };
    }),
  ];
}

/** For how long blocks and requests overlapped, as the client has it. */
function waitedOf(
  /** @type {Sent[]} */ sent,
  /** @type {Blocked[]} */ blocked,
  /** @type {(sent: Sent, block: Blocked) => boolean} */ isCounted,
) {
  let millis = 0;
  for (const each of sent)
    for (const block of blocked)
      if (isCounted(each, block))
        millis += Math.max(0, Math.min(each.end, block.end) - Math.max(each.start, block.start));
  return millis;
}

/** @typedef {{ send(path: string): Promise<Sent>, close(): Promise<void> }} Client */

/** @returns {Client} */
function clientOf(/** @type {number} */ port, /** @type {string} */ connections) {
  const agent = new Agent({
    keepAlive: connections === 'kept',
    maxSockets: Number.POSITIVE_INFINITY,
  });
  const session = connections === 'HTTP/2' ? connect(`http://127.0.0.1:${port}`) : undefined;
  const ask = (/** @type {string} */ path) =>
    new Promise((resolve, reject) => {
      const request = session?.request({ ':path': path });
      if (request !== undefined) request.on('end', resolve).on('error', reject).resume();
      else
        get({ port, host: '127.0.0.1', agent, path }, (response) =>
          response.resume().on('end', resolve),
        ).on('error', reject);
    });
  const unix = () => performance.timeOrigin + performance.now();
  return {
    async send(path) {
      const start = unix();
      await ask(path);
      return { path, start, end: unix() };
    },
    async close() {
      agent.destroy();
      session?.close();
    },
  };
}

const pathBy = (/** @type {() => number} */ random) =>
  /** @type {string} */ (PATHS[Math.floor(random() * PATHS.length)]);

/** Each of some clients sends again some time after its last answer. */
async function closedLoop(
  /** @type {Client} */ client,
  /** @type {() => number} */ random,
  /** @type {number} */ seconds,
) {
  const think = 2 + 60 * random() ** 2;
  const end = performance.now() + seconds * 1000;
  /** @type {Sent[]} */
  const sent = [];
  const clients = Array.from({ length: 3 + Math.floor(12 * random()) }, async () => {
    while (performance.now() < end) {
      sent.push(await client.send(pathBy(random)));
      await sleep(think * (0.5 + random()));
    }
  });
  await Promise.all(clients);
  return sent;
}

/** Requests come by chance, whatever becomes of the others. */
async function openLoop(
  /** @type {Client} */ client,
  /** @type {() => number} */ random,
  /** @type {number} */ seconds,
) {
  const perSecond = 20 + 180 * random();
  const begin = performance.now();
  /** @type {Promise<Sent>[]} */
  const sent = [];
  for (let at = 0; at < seconds * 1000; at += (-Math.log(1 - random()) * 1000) / perSecond) {
    const left = begin + at - performance.now();
    if (left > 0) await sleep(left);
    sent.push(client.send(pathBy(random)));
  }
  return Promise.all(sent);
}

const percent = (/** @type {number | undefined} */ share) =>
  share === undefined ? '–' : `${(100 * share).toFixed(1)} %`;
