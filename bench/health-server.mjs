// Guarantees: what must hold of the health server. Its answers and their latency while the process
// that it is in is blocked, and service, client and a busy process share one CPU; blocks shorter
// than the limit; endless loops; what the idle thread costs; how fast a process ends with it.
// Linux, with `taskset`. Needs the build: `npm run build` first.
//
//   node bench/health-server.mjs                    # about 7 minutes
//   node bench/health-server.mjs --only latency --block 20
//   node bench/health-server.mjs --only stuck --node .matrix/node-24/node_modules/.bin/node
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { Agent, createServer, get } from 'node:http';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { median, quantile } from '../tools/statistics.cjs';
import { Report } from './support/report.mjs';

const { values: options } = parseArgs({
  options: {
    node: { type: 'string', default: process.execPath },
    only: { type: 'string', multiple: true },
    block: { type: 'string', default: '60' }, // seconds
    probes: { type: 'string', default: '1000' },
    short: { type: 'string', default: '200' },
    endless: { type: 'string', default: '50' },
    ends: { type: 'string', default: '20' },
  },
});
const PROBE_TIMEOUT_MILLIS = 5000;
/** What the kernel has counted may be so old. */
const COUNT_MILLIS = 100;
const SHORT_LIMIT_MILLIS = 500;
const ENDLESS_LIMIT_MILLIS = 1000;
const IDLE_SECONDS = 20;

/** Does what each line on standard input says. */
const APP = `
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
const { PORT, LIMIT, WAY } = process.env;
const healthServer = PORT ? { port: Number(PORT), failAfterMillis: Number(LIMIT) } : {};
new EventLoopInstrumentation({ healthServer, unfinishedAfterMillis: 0 });
const say = (what) => require('node:fs').writeSync(1, what + '\\n');
function spin(millis) { for (const end = performance.now() + millis; performance.now() < end; ); }
function loopForEver() { while (true); }
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const [what, millis] = line.split(' ');
  setTimeout(() => {
    say('begins');
    if (what === 'spin') spin(Number(millis));
    else if (what === 'exit') process.exit();
    else if (what === 'unref') process.stdin.unref();
    else loopForEver();
    say('ends');
  }, 1);
});
setTimeout(() => say('ready'), 100);
`;

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  server.close();
  await once(server, 'close');
  return port;
}

class App {
  /** @param {{ port?: number, limit?: number }} how */
  constructor({ port, limit = 30_000 }) {
    this.port = port;
    const env = { ...process.env, ...(port && { PORT: String(port), LIMIT: String(limit) }) };
    const stdio = /** @type {const} */ (['pipe', 'pipe', 'inherit']);
    const cwd = import.meta.dirname;
    this.child = spawn(options.node, ['-e', APP], { stdio, cwd, env });
    this.exited = once(this.child, 'exit');
    this.lines = createInterface({ input: this.child.stdout })[Symbol.asyncIterator]();
  }

  /** Waits for the next line. */
  async said() {
    return (await this.lines.next()).value;
  }

  tell(/** @type {string} */ what) {
    this.child.stdin.write(`${what}\n`);
  }

  async ready() {
    await this.said();
    if (this.port) while ((await probe(this.port)).status === 0) await wait(10);
    await wait(300);
    return this;
  }

  async kill() {
    this.child.kill('SIGKILL');
    await this.exited;
  }
}

/** Status 0: no answer. */
async function probe(/** @type {number} */ port) {
  const started = performance.now();
  const agent = new Agent();
  const request = get({ port, host: '127.0.0.1', path: '/livez', agent });
  request.setTimeout(PROBE_TIMEOUT_MILLIS, () => request.destroy());
  try {
    const [response] = await once(request, 'response');
    let text = '';
    for await (const chunk of response) text += chunk;
    const millis = performance.now() - started;
    return { status: response.statusCode, body: JSON.parse(text), millis };
  } catch {
    return { status: 0, body: {}, millis: performance.now() - started };
  }
}

/** How long the main thread has run, in milliseconds. */
function ran(/** @type {number | undefined} */ pid) {
  const [nanos] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'latin1').split(' ');
  return Number(nanos) / 1e6;
}

const millis = (/** @type {number} */ value) => `${value.toFixed(1)} ms`;

/** With service, client and a busy process pinned to one CPU. */
async function latency(/** @type {Report} */ report) {
  const cpu = /^Cpus_allowed_list:\s*(\d+)/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1];
  spawnSync('taskset', ['-apc', String(cpu), String(process.pid)]);
  const busy = spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' });
  const blockMillis = Number(options.block) * 1000;
  const count = Number(options.probes);
  // Time without a CPU does not count, and the main thread has a part of it only.
  const limit = blockMillis / 12;
  const app = await new App({ port: await freePort(), limit }).ready();
  const port = /** @type {number} */ (app.port);
  app.tell(`spin ${blockMillis}`);
  await app.said();
  const ranBefore = ran(app.child.pid);
  const answers = [];
  const start = performance.now();
  for (let i = 0; i < count; i++) {
    await wait(start + (i * (blockMillis - 2000)) / count - performance.now());
    const before = ran(app.child.pid) - ranBefore;
    const answer = await probe(port);
    answers.push({ ...answer, before, after: ran(app.child.pid) - ranBefore });
  }
  await app.said();
  await wait(300);
  const after = await probe(port);
  await app.kill();
  busy.kill('SIGKILL');
  const isWrong = ({ status, before, after: until }) =>
    (status !== 200 && status !== 503) ||
    (status === 503 && until < limit) ||
    (status === 200 && before > limit + 1000 + COUNT_MILLIS);
  const wrong = answers.filter(isWrong).length + (after.status === 200 ? 0 : 1);
  const times = answers.map((answer) => answer.millis);
  const with503 = answers.filter(({ status }) => status === 503).length;
  report.table(
    `one block of ${options.block} s, everything on one CPU beside a busy process`,
    ['probes', 'p50', 'p99', 'slowest', '200', '503', 'wrong'],
    [
      [
        String(answers.length),
        millis(median(times)),
        millis(quantile(times, 0.99)),
        millis(Math.max(...times)),
        String(answers.length - with503),
        String(with503),
        String(wrong),
      ],
    ],
  );
}

async function short(/** @type {Report} */ report) {
  const app = await new App({ port: await freePort(), limit: SHORT_LIMIT_MILLIS }).ready();
  const seen = new Map();
  for (let i = 0; i < Number(options.short); i++) {
    // Up to a tenth below the limit.
    app.tell(`spin ${(0.3 + (0.6 * ((i * 37) % 100)) / 100) * SHORT_LIMIT_MILLIS}`);
    await app.said();
    let isOver = false;
    const over = app.said().then(() => {
      isOver = true;
    });
    while (!isOver) {
      const { status, body } = await probe(/** @type {number} */ (app.port));
      const key = `${status} ${body.status}`;
      seen.set(key, (seen.get(key) ?? 0) + 1);
      await wait(5);
    }
    await over;
  }
  await app.kill();
  const rows = [...seen].sort().map(([what, count]) => [what, String(count)]);
  report.table(`${options.short} blocks of 150 to 450 ms, limit 500 ms`, ['answer', 'times'], rows);
}

async function endless(/** @type {Report} */ report) {
  const after = [];
  const withCpu = [];
  let named = 0;
  for (let i = 0; i < Number(options.endless); i++) {
    const app = await new App({ port: await freePort(), limit: ENDLESS_LIMIT_MILLIS }).ready();
    app.tell('loop');
    await app.said();
    const start = performance.now();
    const ranBefore = ran(app.child.pid);
    for (;;) {
      const { status, body } = await probe(/** @type {number} */ (app.port));
      if (status === 503) {
        after.push(performance.now() - start);
        withCpu.push(ran(app.child.pid) - ranBefore);
        if (body.code?.functionName === 'loopForEver') named++;
        break;
      }
      if (performance.now() - start > 10 * ENDLESS_LIMIT_MILLIS) break;
      await wait(20);
    }
    await app.kill();
  }
  report.table(
    `${options.endless} times while (true), limit 1000 ms`,
    ['503', 'naming the function', 'median', 'last', 'last, of its CPU time'],
    [
      [
        String(after.length),
        String(named),
        millis(median(after)),
        millis(Math.max(...after)),
        millis(Math.max(...withCpu)),
      ],
    ],
  );
}

/** How often each thread has been given a CPU. */
function slices(/** @type {number | undefined} */ pid) {
  const tasks = readdirSync(`/proc/${pid}/task`);
  return new Map(
    tasks.map((tid) => {
      const stat = readFileSync(`/proc/${pid}/task/${tid}/schedstat`, 'latin1');
      return [tid, Number(stat.split(' ')[2])];
    }),
  );
}

function rss(/** @type {number | undefined} */ pid) {
  const [, kb] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
  return Number(kb) / 1024;
}

async function idle(/** @type {Report} */ report) {
  const app = await new App({ port: await freePort() }).ready();
  // The thread that answers is the one that runs for each probe.
  const before = slices(app.child.pid);
  for (let i = 0; i < 50; i++) await probe(/** @type {number} */ (app.port));
  const ranFor = [...slices(app.child.pid)].map(([tid, n]) => [tid, n - (before.get(tid) ?? 0)]);
  const [tid] = ranFor.sort(([, a], [, b]) => Number(b) - Number(a))[0] ?? [];
  await wait(30_000); // until V8 has collected the garbage of the start
  const atStart = slices(app.child.pid).get(String(tid)) ?? 0;
  await wait(IDLE_SECONDS * 1000);
  const wakeUps = (slices(app.child.pid).get(String(tid)) ?? 0) - atStart;
  await app.kill();
  const memory = { without: [], with: [] };
  for (let i = 0; i < 7; i++) {
    for (const which of /** @type {const} */ (['without', 'with'])) {
      const each = new App(which === 'with' ? { port: await freePort() } : {});
      await each.ready();
      await wait(1000);
      memory[which].push(rss(each.child.pid));
      await each.kill();
    }
  }
  const [less, more] = [median(memory.without), median(memory.with)];
  report.table(
    'what the idle thread costs',
    ['wake-ups in 20 s', 'RSS without', 'RSS with', 'more'],
    [[String(wakeUps), ...[less, more, more - less].map((mb) => `${mb.toFixed(1)} MB`)]],
  );
}

async function ends(/** @type {Report} */ report) {
  const ways = {
    'process.exit()': (/** @type {App} */ app) => app.tell('exit'),
    SIGTERM: (/** @type {App} */ app) => app.child.kill('SIGTERM'),
    'nothing left to do': (/** @type {App} */ app) => app.child.stdin.end(),
  };
  const rows = [];
  for (const [name, end] of Object.entries(ways)) {
    const times = { without: [], with: [] };
    for (let i = 0; i < Number(options.ends); i++) {
      for (const which of /** @type {const} */ (['without', 'with'])) {
        const app = await new App(which === 'with' ? { port: await freePort() } : {}).ready();
        const start = performance.now();
        end(app);
        await app.exited;
        times[which].push(performance.now() - start);
      }
    }
    rows.push([name, millis(median(times.without)), millis(median(times.with))]);
  }
  report.table('from the call or the signal to the end', ['', 'without', 'with'], rows);
}

const parts = { short, stuck: endless, idle, ends, latency };
const report = new Report(`health-server, Node.js ${options.node}`);
for (const [name, part] of Object.entries(parts)) {
  if (options.only === undefined || options.only.includes(name)) await part(report);
}
process.exit();
