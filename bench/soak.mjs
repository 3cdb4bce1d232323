// Guarantees: over minutes or hours of mixed load and random blocks of every kind, nothing is lost,
// there are no false positives, memory stays flat, and the times of spans do not drift from the
// wall clock. Prints the verdict; exit code 1 if a check fails. Needs the build.
//
//   npm run check -- soak                                  # 3 minutes
//   npm run check -- soak --minutes 120 --pause 4 --node .matrix/node-24/node_modules/.bin/node
//   npm run check -- soak --without        # the service alone: the memory to compare with
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { messageOf } from '../tools/harness.cjs';
import { sendOk } from '../tools/http-client.cjs';
import { median } from '../tools/statistics.cjs';
import limits from './soak/limits.cjs';
import { verdict } from './soak/verdict.mjs';
import { Report } from './support/report.mjs';

const LOAD_CONNECTIONS = 4;
const LOAD_PAUSE_MILLIS = 15;
/** Between blocks, on average. */
const PAUSE_MILLIS = 150;
const LEAST_PAUSE_MILLIS = 20;
const PROGRESS_EVERY_MILLIS = 60_000;

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '3' },
    // How many times longer the pauses between requests and between blocks are.
    pause: { type: 'string', default: '1' },
    without: { type: 'boolean', default: false },
    node: { type: 'string', default: process.execPath },
    json: { type: 'string', default: join(import.meta.dirname, 'results') },
  },
});
const minutes = Number(options.minutes);
if (!(minutes > 0))
  throw new RangeError(`--minutes is ${options.minutes}, expected a number above 0`);

const pause = Number(options.pause);
if (!(pause > 0)) throw new RangeError(`--pause is ${options.pause}, expected a number above 0`);

const report = new Report(options.without ? 'soak-without' : 'soak');
const folder = mkdtempSync(join(tmpdir(), 'event-loop-soak-'));
const ledgerFile = join(folder, 'ledger.jsonl');
const child = fork(join(import.meta.dirname, 'soak/service.cjs'), [ledgerFile], {
  execPath: options.node,
  execArgv: ['--expose-gc'],
  env: { ...process.env, SOAK_WITHOUT: options.without ? '1' : '' },
});
// The service ends when we do: it is disconnected then.
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    rmSync(folder, { recursive: true, force: true });
    process.exit(1);
  });
}
try {
  const { port, kinds } = await messageOf(child);
  await soak(port, kinds);
} finally {
  if (child.connected) child.disconnect();
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}
const ledger = readLedger();
rmSync(folder, { recursive: true, force: true });
if (!options.without) printVerdict(ledger, verdict(ledger));
printMemory(ledger.memory);
report.write(join(options.json, options.without ? 'soak-without.json' : 'soak.json'));

async function soak(/** @type {number} */ port, /** @type {string[]} */ kinds) {
  const agent = new Agent({ keepAlive: true });
  const visit = (/** @type {string} */ path) =>
    sendOk(`http://127.0.0.1:${port}${path}`, { agent });
  const until = performance.now() + minutes * 60_000;
  const isOver = () => performance.now() >= until;
  const load = Array.from({ length: LOAD_CONNECTIONS }, async () => {
    while (!isOver()) {
      await visit('/');
      await sleep(Math.random() * 2 * LOAD_PAUSE_MILLIS * pause);
    }
  });
  const progress = setInterval(() => {
    const left = Math.round((until - performance.now()) / 60_000);
    if (left > 0) console.log(`${left} ${left === 1 ? 'minute' : 'minutes'} to go`);
  }, PROGRESS_EVERY_MILLIS).unref();
  const span = limits.LONGEST_MILLIS - limits.SHORTEST_MILLIS;
  for (let i = 0; !isOver(); i++) {
    const kind = kinds[i % kinds.length];
    // Mostly short ones, as it is in life.
    const millis = limits.SHORTEST_MILLIS + span * Math.random() ** 3;
    await visit(`/block?${new URLSearchParams({ kind, millis: String(millis) })}`);
    await sleep(LEAST_PAUSE_MILLIS - Math.log(1 - Math.random()) * PAUSE_MILLIS * pause);
  }
  await Promise.all(load);
  clearInterval(progress);
  agent.destroy();
  await sleep(200); // for the last block to be reported
}

function readLedger() {
  const lines = readFileSync(ledgerFile, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  const of = (/** @type {string} */ type) => lines.filter((line) => line.type === type);
  return {
    truths: of('truth'),
    reported: of('reported'),
    delays: of('delay'),
    suspensions: of('suspension'),
    memory: of('memory'),
  };
}

function printVerdict(
  /** @type {ReturnType<typeof readLedger>} */ { truths, reported, memory },
  /** @type {ReturnType<typeof verdict>} */ { checks, notJudged },
) {
  const total = truths.reduce((sum, { millis }) => sum + millis, 0);
  report.note(
    `${minutes} minutes: ${truths.length} blocks of ${limits.SHORTEST_MILLIS} to ${limits.LONGEST_MILLIS} ms, ` +
      `${(total / 1000).toFixed(0)} s in all; ${reported.length} reported; heap ${(median(memory.map(({ heapUsed }) => heapUsed)) / 2 ** 20).toFixed(1)} MiB`,
  );
  if (notJudged > 0) report.note(`${notJudged} of them not judged: the machine gave them no CPU`);
  report.table(
    `Node.js at ${options.node}`,
    ['', 'limit', 'measured', 'verdict'],
    checks.map(({ name, limit, measured, holds }) => [
      name,
      limit,
      measured,
      holds ? 'holds' : 'VIOLATED',
    ]),
    { checks, notJudged },
  );
  for (const { name, holds, examples } of checks) {
    if (holds) continue;
    process.exitCode = 1;
    if (examples) console.log(`${name}: ${JSON.stringify(examples, null, 1).slice(0, 2000)}`);
  }
}

/** What the service held, in eight parts of the run: the median of each. */
function printMemory(/** @type {Record<string, number>[]} */ memory) {
  const PARTS = 8;
  const mebibytes = (/** @type {number} */ bytes) => (bytes / 2 ** 20).toFixed(1);
  report.table(
    `Memory, Node.js at ${options.node}, ${options.without ? 'without' : 'with'} the package`,
    ['minute', 'heap MiB', 'RSS MiB', 'handles', 'threads'],
    Array.from({ length: PARTS }, (_, i) => {
      const part = memory.slice(
        Math.floor((memory.length * i) / PARTS),
        Math.floor((memory.length * (i + 1)) / PARTS),
      );
      const of = (/** @type {string} */ name) => median(part.map((each) => each[name]));
      return [
        ((minutes * (i + 1)) / PARTS).toFixed(0),
        mebibytes(of('heapUsed')),
        mebibytes(of('rss')),
        String(of('handles')),
        String(of('threads')),
      ];
    }),
    { memory },
  );
}
