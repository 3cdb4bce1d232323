// Guarantees: a consumer that the first request of an application starts is given jobs in a busy
// service, and what this package says of each job is compared with what the job itself and the
// clients have measured.
import { fork, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, freePort, messageOf } from '../../../tools/harness.cjs';
import { BLOCK_SPAN } from '../../../tools/otlp.cjs';
import { OtlpReceiver } from '../../../tools/otlp-receiver.cjs';
import { PACKAGE_NAME } from '../../../tools/paths.cjs';
import { generator, median } from '../../../tools/statistics.cjs';
import { CACHE } from './install.mjs';

const THRESHOLD_MILLIS = 20;
const START_MILLIS = 60_000;
const STOP_MILLIS = 15_000;
const SECONDS = 12;
/** Of requests that block nothing. */
const PER_SECOND = 60;
const FUNCTION = 'resizeImage';
const LIGHT = '/light';
/** As OTLP counts. */
const CONSUMER = 5;

/**
 * @typedef {{ name: string, args: (given: { port: number }) => string[], peer?: string,
 *   preload?: '--import' | '--require', env?: Record<string, string> }} Consumer
 *   `peer`: `redis-server`, or a file of the application
 * @typedef {{ path: string, job?: string, traceId: string, start: number, end: number }} Sent
 * @typedef {{ job: string, start: number, end: number }} Job
 * @typedef {{ traceId?: string, stalledMillis: number, queuedMillis: number,
 *   waits: { start: number, millis: number, isQueued?: true }[] }} Told
 * @typedef {import('../../../tools/otlp-receiver.cjs').ReceivedSpan} Span
 */

const unix = () => performance.timeOrigin + performance.now();

/**
 * @param {Consumer} consumer
 * @param {string} node
 * @param {string} folder of the application
 */
export async function watchConsumer(consumer, node, folder) {
  const data = mkdtempSync(join(tmpdir(), 'real-apps-'));
  const file = join(data, 'jobs');
  writeFileSync(file, '');
  const port = await freePort();
  const collector = await OtlpReceiver.listen();
  const peer = await startPeer(consumer.peer, node, folder, data, port);
  const preloads = [consumer.preload ?? '--require', `${PACKAGE_NAME}/register`];
  const child = spawn(
    node,
    [...preloads, '--require', join(CACHE, 'jobs.cjs'), ...consumer.args({ port })],
    {
      cwd: folder,
      env: {
        ...process.env,
        NODE_ENV: 'production',
        NODE_OPTIONS: '',
        PORT: String(port),
        HOST: '127.0.0.1',
        PEER_PORT: String(peer?.port),
        ...collector.env,
        OTEL_METRICS_EXPORTER: 'none',
        OTEL_LOGS_EXPORTER: 'none',
        OTEL_BSP_SCHEDULE_DELAY: '200',
        OTEL_INSTRUMENTATION_EVENT_LOOP_THRESHOLD_MILLIS: String(THRESHOLD_MILLIS),
        REAL_APPS_JOBS: file,
        ...consumer.env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const exited = once(child, 'close');
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  try {
    const client = new Clients(port);
    await eventually('it answers', START_MILLIS, () => {
      if (child.exitCode !== null) throw new Error('it has ended');
      return client.send(LIGHT);
    });
    const sent = await client.useFor(SECONDS);
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MILLIS);
    await exited;
    clearTimeout(timer);
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
    const messages = lines.map((line) => JSON.parse(line));
    const jobs = /** @type {Job[]} */ (messages.filter(({ job }) => job !== undefined));
    const told = /** @type {Told[]} */ (messages.filter(({ waits }) => waits !== undefined));
    return judge(sent, jobs, told, collector.spans);
  } catch (error) {
    throw new Error(`${consumer.name}: ${error}\n${output.slice(-4000)}`);
  } finally {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    peer?.stop();
    collector.close();
    rmSync(data, { recursive: true, force: true });
  }
}

/**
 * @param {string | undefined} peer
 * @param {string} node
 * @param {string} folder
 * @param {string} data
 * @param {number} appPort
 */
async function startPeer(peer, node, folder, data, appPort) {
  if (peer === undefined) return undefined;
  if (peer === 'redis-server') {
    installRedis();
    const port = await freePort();
    const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', data];
    const server = spawn(peer, args, { stdio: ['ignore', 'pipe', 'ignore'] });
    await once(server.stdout, 'data');
    return { port, stop: () => server.kill() };
  }
  const env = { ...process.env, NODE_OPTIONS: '', APP_PORT: String(appPort) };
  const child = fork(join(folder, peer), { execPath: node, execArgv: [], env });
  const port = /** @type {number} */ (await messageOf(child));
  return { port, stop: () => child.kill() };
}

/** Uses that of the machine, else that of Debian. */
function installRedis() {
  if (spawnSync('redis-server', ['--version']).status === 0) return;
  const args = ['install', '--yes', 'redis-server'];
  const { status, stderr, error } = spawnSync('apt-get', args, { encoding: 'utf8' });
  if (status !== 0)
    throw new Error(`no redis-server, and apt-get cannot install it: ${error?.message ?? stderr}`);
}

/** Clients in traces of their own, of which some keep their connections. */
class Clients {
  #agents = [new Agent({ keepAlive: true }), new Agent({ keepAlive: false })];
  #random = generator(58);
  #count = 0;

  /** @param {number} port */
  constructor(port) {
    this.port = port;
  }

  /** @returns {Promise<Sent>} */
  async send(/** @type {string} */ path, /** @type {{ id: string, millis: number }} */ job) {
    const traceId = randomBytes(16).toString('hex');
    const query = job === undefined ? '' : `?id=${job.id}&millis=${job.millis.toFixed(1)}`;
    const headers = { traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-01` };
    const agent = this.#agents[this.#count++ % 2];
    const start = unix();
    await new Promise((resolve, reject) =>
      get({ port: this.port, host: '127.0.0.1', path: path + query, headers, agent }, (response) =>
        response.resume().on('end', () => {
          if (response.statusCode === 200) resolve(undefined);
          else reject(new Error(`${path}: ${response.statusCode}`));
        }),
      ).on('error', reject),
    );
    return { path, job: job?.id, traceId, start, end: unix() };
  }

  /** The first request starts the consumer; every other job is awaited by the one who sends it. */
  async useFor(/** @type {number} */ seconds) {
    const begin = performance.now();
    const isOver = () => performance.now() - begin > seconds * 1000;
    /** @type {Promise<Sent>[]} */
    const sent = [];
    const others = (async () => {
      while (!isOver()) {
        sent.push(this.send(LIGHT));
        await sleep((-Math.log(1 - this.#random()) * 1000) / PER_SECOND);
      }
    })();
    await sleep(300);
    sent.push(this.send('/lazy'));
    await sent.at(-1);
    await sleep(500);
    for (let i = 0; !isOver(); i++) {
      const job = { id: String(i), millis: 60 + 90 * this.#random() };
      sent.push(this.send(i % 2 === 0 ? '/job' : '/post', job));
      await sleep(200 + 400 * this.#random());
    }
    await others;
    const all = await Promise.all(sent);
    await sleep(1500);
    for (const agent of this.#agents) agent.destroy();
    return all;
  }
}

/**
 * @param {Sent[]} sent
 * @param {Job[]} jobs
 * @param {Told[]} told
 * @param {Span[]} spans
 */
function judge(sent, jobs, told, spans) {
  const blocks = spans.filter(({ name }) => name === BLOCK_SPAN);
  const starter = /** @type {Sent} */ (sent.find(({ path }) => path === '/lazy'));
  const senders = new Map(sent.map((each) => [each.job, each]));
  const paths = new Map(sent.map((each) => [each.traceId, each]));
  /** @type {string[]} */
  const wrong = [];
  const seen = jobs.map((job) => {
    const found = blocks.filter((block) => overlap(block, job) > (job.end - job.start) / 2);
    const [block] = found;
    const name = String(block?.attributes['code.function.name']);
    const sender = /** @type {Sent} */ (senders.get(job.job));
    const innocents = sent.filter((each) => each !== sender && each !== starter);
    const trace = block && traceOf(block, [sender, starter], innocents, spans);
    const isFound = found.length === 1;
    const isNamed = name === FUNCTION || name.endsWith(`.${FUNCTION}`);
    if (!isFound || !isNamed || trace?.startsWith('wrong'))
      wrong.push(`${sender.path} ${job.job}: ${found.length} blocks, ${name}, ${trace}`);
    return { job, isFound, isNamed, trace };
  });
  const own = told.flatMap(({ traceId, waits }) => {
    const job = jobs.find(({ job: id }) => id === paths.get(traceId ?? '')?.job);
    return job === undefined
      ? []
      : waits.filter(({ start }) => start >= job.start - THRESHOLD_MILLIS && start < job.end);
  });
  for (const { millis } of own) wrong.push(`waited ${millis.toFixed(0)} ms for its own job`);
  const light = sent.filter(({ path }) => path === LIGHT);
  const isBeside = (/** @type {Sent} */ each) => jobs.some((job) => overlap(job, each) > 0);
  const usual = median(
    light.filter((each) => !isBeside(each)).map(({ start, end }) => end - start),
  );
  const waits = told
    .filter(({ traceId }) => paths.get(traceId ?? '')?.path === LIGHT)
    .flatMap((each) => each.waits);
  const others = blocks
    .filter((block) => !jobs.some((job) => overlap(block, job) > 0))
    .map(
      ({ start, end, attributes }) =>
        `${(end - start).toFixed(0)} ms ${attributes['code.function.name']}`,
    );
  const count = (/** @type {(each: typeof seen[0]) => unknown} */ is) => seen.filter(is).length;
  return {
    jobs: jobs.length,
    found: count(({ isFound }) => isFound),
    named: count(({ isNamed }) => isNamed),
    children: count(({ trace }) => trace === 'child'),
    roots: count(({ trace }) => trace === 'made by'),
    victims: own.length,
    queued: waits.filter(({ isQueued }) => isQueued).length,
    waited: sumOf(light, (each) => (isBeside(each) ? each.end - each.start - usual : 0)),
    told: sumOf(waits, ({ millis }) => millis),
    wrong,
    others,
  };
}

/**
 * @param {Span} block
 * @param {Sent[]} askers who may have to do with it
 * @param {Sent[]} innocents
 * @param {Span[]} spans
 */
function traceOf(block, askers, innocents, spans) {
  const isOf = (/** @type {Sent[]} */ requests, /** @type {string} */ id) =>
    requests.some(({ traceId }) => traceId === id);
  if (block.parentSpanId === undefined) {
    const isLinked = block.links.some(({ traceId }) => isOf(askers, traceId));
    return isLinked ? 'made by' : `wrong: a root with ${block.links.length} links`;
  }
  if (isOf(innocents, block.traceId)) return 'wrong: of a request beside it';
  const inTrace = spans.filter(({ traceId }) => traceId === block.traceId);
  const ids = new Set(inTrace.map(({ spanId }) => spanId));
  const roots = inTrace.filter(({ parentSpanId }) => !ids.has(parentSpanId ?? ''));
  const isOpen = roots.some((root) => root.end >= block.start && root.start <= block.end);
  if (!isOpen) return 'wrong: of a request that has ended';
  // The instrumentation of a library may give a message a trace of its own.
  return isOf(askers, block.traceId) || roots.every(({ kind }) => kind === CONSUMER)
    ? 'child'
    : 'wrong: of no request and no message';
}

/**
 * @param {{ start: number, end: number }} a
 * @param {{ start: number, end: number }} b
 */
const overlap = (a, b) => Math.max(0, Math.min(a.end, b.end) - Math.max(a.start, b.start));

/**
 * @template T
 * @param {T[]} items
 * @param {(item: T) => number} numberOf
 */
const sumOf = (items, numberOf) => items.reduce((sum, item) => sum + numberOf(item), 0);
