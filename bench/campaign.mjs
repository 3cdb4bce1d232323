// Guarantees: random programs with random blockers of known CPU time, each a process of its own
// under the real SDK, and what the telemetry said of them: see README.md.
//
//   npm run bench -- campaign --seed 1 --programs 21 --node .matrix/node-24/node_modules/.bin/node
//   npm run bench -- campaign --seed 12 --programs 1        # one program again
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median } from '../tools/statistics.cjs';

const PROGRAM = join(import.meta.dirname, 'campaign/program.cjs');
/** A blocker that got this much CPU has to be reported: the threshold is 50 ms. */
const CLEAR_CPU_MILLIS = 58;
const IDLE_CPU_MILLIS = 40;
/** The wall clock, by which spans are placed, counts whole milliseconds. */
const NEAR_MILLIS = 20;
/** A blocker that has this share of a block is what the block has to be told as. */
const CLEAR_SHARE = 0.6;

const FAULTS = [
  'missed',
  'short',
  'twice',
  'invented',
  'wrong parent',
  'no parent',
  'wrong function',
  'no function',
];

/** @type {import('./support/registry.mjs').Bench} */
export default {
  name: 'campaign',
  about: 'random blockers in random programs: missed, twice, invented, wrong parent or function',
  minutes: 8,
  options: {
    seed: { type: 'string', default: '1' },
    programs: { type: 'string', default: '21' },
    blockers: { type: 'string', default: '120' },
    keep: { type: 'string' },
  },
  async run({ nodes, options, report }) {
    for (const { path, version } of nodes) {
      const results = [];
      for (let i = 0; i < Number(options.programs); i++) {
        const seed = Number(options.seed) + i;
        results.push(judge(seed, await ledgerOf(path, seed, options)));
        process.stderr.write('.');
      }
      print(report, version, options, results);
    }
  },
};

/** Runs one program to its end. */
async function ledgerOf(node, seed, { blockers, keep }) {
  const folder = mkdtempSync(join(keep ?? tmpdir(), `campaign-${seed}-`));
  const file = join(folder, 'ledger.jsonl');
  const child = spawn(node, [PROGRAM, String(seed), blockers, file], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (text) => (stderr += text));
  const [code, signal] = await once(child, 'exit');
  const lines = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  if (!keep) rmSync(folder, { recursive: true, force: true });
  const of = (type) => lines.filter((line) => line.type === type);
  const ended = code === 0 ? [] : [{ code, signal, stderr: stderr.slice(-2000) }];
  return {
    ended,
    stuck: of('stuck'),
    truths: of('truth'),
    reported: of('reported'),
    delays: of('delay'),
  };
}

function judge(seed, { ended, stuck, truths, reported, delays }) {
  const offset = median(truths.map(({ start, wallStart }) => start - wallStart - 0.5));
  const moved = (each) => ({ ...each, start: each.start - offset });
  const real = truths.map((truth) => ({ ...moved(truth), parts: truth.parts.map(moved) }));
  const faults = [];
  const fault = (what, about, block) => faults.push({ seed, what, about, block });

  const judged = real.filter((truth) => isClear(truth));
  for (const truth of judged) {
    // The parts of others may lie between its own; then none of them has to be a block.
    const isAlone = !real.some((other) => other !== truth && overlap(other, truth) > 1);
    if (truth.parts.length > 1 && !isAlone) continue;
    const told = sum(reported.map((block) => shared(block, truth)));
    const millis = sum(truth.parts.map((part) => part.millis));
    if (told < millis / 2) fault('missed', truth);
    else if (told < millis - NEAR_MILLIS) fault('short', truth);
  }
  const sorted = reported.toSorted((a, b) => a.start - b.start);
  for (const [i, block] of sorted.entries()) {
    if (i > 0 && overlap(sorted[i - 1], block) > 1) fault('twice', sorted[i - 1], block);
    // A delay without CPU is the machine's, and is not to be told as a block.
    const isIdle = block.cpuMillis !== null && block.cpuMillis < IDLE_CPU_MILLIS;
    const delayed = isIdle ? [] : delays.map(moved);
    const explained = sum(
      [...real.flatMap(({ parts }) => parts), ...delayed].map((each) => overlap(block, each)),
    );
    if (block.millis - explained >= 25) fault('invented', undefined, block);
    const heaviest = real.toSorted((a, b) => shared(block, b) - shared(block, a))[0];
    if (shared(block, heaviest) < CLEAR_SHARE * block.millis) continue;
    judgeParent(heaviest, block, fault);
    judgeFunction(heaviest, block, fault);
  }
  return {
    seed,
    blockers: truths.length,
    judged: judged.length,
    reported: reported.length,
    faults,
    ended,
    stuck,
  };
}

/**
 * A span that had ended is none of several callbacks, and what outlives a request links to it:
 * see src/core/record/README.md.
 */
function judgeParent(truth, block, fault) {
  const mayHaveNone =
    (truth.ended && block.kind !== 'callback') || block.links.includes(truth.traceId);
  const right = block.traceId === truth.traceId || (mayHaveNone && block.traceId === undefined);
  if (!right) fault(block.traceId ? 'wrong parent' : 'no parent', truth, block);
}

function judgeFunction(truth, block, fault) {
  const [first, last] = truth.lines;
  // Only the blockers call the clock, and the helpers above them.
  const isHelper = block.line < truth.firstLine;
  const isIn = isHelper || (block.line >= first && block.line <= last);
  if ((isIn && block.file === truth.file) || block.name === 'cpuMillis') return;
  fault(block.name === undefined ? 'no function' : 'wrong function', truth, block);
}

function print(report, version, { seed, programs, blockers }, results) {
  const faults = results.flatMap((result) => result.faults);
  const total = (name) => String(sum(results.map((result) => result[name])));
  report.table(
    `Node.js ${version}: seeds ${seed} to ${Number(seed) + Number(programs) - 1}, ${blockers} blockers each`,
    ['blockers', 'judged', 'blocks reported', ...FAULTS],
    [
      [
        total('blockers'),
        total('judged'),
        total('reported'),
        ...FAULTS.map((what) => String(faults.filter((each) => each.what === what).length)),
      ],
    ],
    {
      faults,
      ended: results.flatMap(({ ended }) => ended),
      stuck: results.flatMap(({ stuck }) => stuck),
    },
  );
  for (const { seed, what, about, block } of faults)
    console.log(
      `${what}, seed ${seed}: ${about?.way} (${about?.kind}) ${Math.round(about?.millis)} ms, CPU ${Math.round(about?.cpuMillis)}, told ${JSON.stringify(block)}`,
    );
  for (const { seed, ended, stuck } of results)
    if (ended.length + stuck.length > 0)
      console.log(`seed ${seed}: ${JSON.stringify([...ended, ...stuck])}`);
}

/** A child process that the machine lets wait uses no CPU of this thread. */
const isClear = ({ kind, asked, millis, cpuMillis }) =>
  kind === 'execFileSync' ? millis < 1.2 * asked + 10 : cpuMillis >= CLEAR_CPU_MILLIS;

const sum = (values) => values.reduce((total, value) => total + value, 0);
const shared = (block, { parts }) => sum(parts.map((part) => overlap(block, part)));

function overlap(a, b) {
  return Math.max(0, Math.min(a.start + a.millis, b.start + b.millis) - Math.max(a.start, b.start));
}
