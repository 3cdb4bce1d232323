// Guarantees: the same suite, against the packed tarball, on every supported Node.js and both
// OpenTelemetry lines, one cell at a time; a table at the end; exit code 1 when anything failed.
//
//   npm run check -- matrix                                  all cells
//   npm run check -- matrix --only 20-legacy,24-modern    some cells
//   npm run check -- matrix --only 24-modern -- -t regex  what follows the second `--` is jest's
//   npm run check -- matrix --install                        only installs what they need
import { parseArgs } from 'node:util';
import { npm } from '../../tools/npm.cjs';
import { pack } from '../../tools/pack.cjs';
import { ROOT } from '../../tools/paths.cjs';
import { table } from '../../tools/table.cjs';
import { chooseCells } from './cells.mjs';
import { installNode } from './nodes.mjs';
import { sum } from './results.mjs';
import { stageLine } from './stage.mjs';
import { runSuite } from './suite.mjs';

/** Scenarios that wait for each other if two run at the same time; then all other tests. */
const WAYS = {
  alone: ['--selectProjects', 'alone', '--maxWorkers=1'],
  together: ['--selectProjects', 'unit', 'together'],
};

const { values: options, positionals: jestArguments } = parseArgs({
  options: {
    only: { type: 'string' },
    install: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});

const cells = chooseCells(options.only);
npm(['run', 'build'], ROOT);
const tarball = pack();
console.log(`tarball: ${tarball.path}\n         ${tarball.integrity}`);

/**
 * Each line is staged once, and a line that cannot be staged fails all of its cells with the same
 * message.
 */
const stages = new Map();
if (options.install) {
  for (const { node, line } of cells) {
    installNode(node);
    stageOnce(line);
  }
  process.exit();
}
const rows = [];
for (const cell of cells) {
  console.log(`\n== ${cell.id}`);
  try {
    rows.push(await runCell(cell));
  } catch (error) {
    console.log(`cannot run: ${error.message}`);
    rows.push({
      ok: false,
      columns: [cell.line, `${cell.node}`, '-', '-', '-', '-', '-', 'cannot run'],
    });
  }
}

console.log();
const head = ['line', 'Node.js', 'api / sdk', 'passed', 'failed', 'skipped', 'seconds', 'note'];
console.log(
  table(
    head,
    rows.map((row) => row.columns),
  ),
);
process.exitCode = rows.every((row) => row.ok) ? 0 : 1;

/** @param {import('./cells.mjs').Cell} cell */
async function runCell(cell) {
  const node = installNode(cell.node);
  const stage = stageOnce(cell.line);
  console.log(`Node.js ${node.version}, OpenTelemetry SDK ${stage.sdkVersion}`);
  console.log(
    `checked: one @opentelemetry/api (${stage.apiVersion}); the package is the tarball, not a link`,
  );

  const run = await runWays(cell, node, stage.folder);
  for (const { name, message } of run.failures)
    console.log(`\nFAILED ${name}\n${readable(message)}`);
  for (const command of run.leftBehind) console.log(`left behind: ${command}`);
  const note = noteOn(run);
  const { passed, failed, skipped, seconds, status, logFiles } = run;
  console.log(
    `${passed} passed, ${failed} failed, ${skipped} skipped${note && ` (${note})`}\nlogs: ${logFiles}`,
  );
  const counts = [passed, failed, skipped].map(String);
  const versions = [node.version, `${stage.apiVersion} / ${stage.sdkVersion}`];
  return {
    ok: status === 0 && failed === 0 && passed > 0,
    columns: [cell.line, ...versions, ...counts, seconds.toFixed(1), note],
  };
}

/**
 * The scenarios that run one at a time, then all other tests.
 * @param {import('./cells.mjs').Cell} cell
 * @param {import('./nodes.mjs').NodeBinary} node
 * @param {string} folder
 */
async function runWays(cell, node, folder) {
  const runs = [];
  for (const [way, wayOptions] of Object.entries(WAYS)) {
    const suite = { ...cell, id: `${cell.id}-${way}` };
    const options = ['--passWithNoTests', ...jestArguments, ...wayOptions];
    runs.push(await runSuite(suite, node, folder, options));
  }
  return {
    ...sum(runs),
    failures: runs.flatMap(({ failures }) => failures),
    status: runs.find(({ status }) => status !== 0)?.status ?? 0,
    seconds: runs.reduce((total, { seconds }) => total + seconds, 0),
    leftBehind: runs.flatMap(({ leftBehind }) => leftBehind),
    logFiles: runs.map(({ logFile }) => logFile).join(' '),
  };
}

/** @param {Awaited<ReturnType<typeof runWays>>} result */
function noteOn({ status, failed, passed, leftBehind }) {
  const notes = [];
  if (passed + failed === 0) notes.push('no test ran');
  if (status !== 0 && failed === 0) notes.push(`jest ended with ${status}`);
  if (leftBehind.length > 0) notes.push(`left ${leftBehind.length} processes behind`);
  return notes.join(', ');
}

/** @param {string} line */
function stageOnce(line) {
  if (!stages.has(line)) {
    try {
      stages.set(line, stageLine(line, tarball));
    } catch (error) {
      stages.set(line, error);
    }
  }
  const stage = stages.get(line);
  if (stage instanceof Error) throw stage;
  return stage;
}

/** Indented, without the frames of the test runner. @param {string} message */
function readable(message) {
  const lines = message
    .split('\n')
    .filter((line) => !/^\s+at .*(node_modules|<anonymous>|node:internal)/.test(line));
  return lines.map((line) => `    ${line}`).join('\n');
}
