// `npm run check -- <name> [options]`: what only some changes need. Without a name, it prints the
// list below.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildIfStale } from './package-build.mjs';

const ROOT = path.resolve(fileURLToPath(import.meta.url), '../..');

const JEST = ['node_modules/jest/bin/jest.js', '--maxWorkers=1', '--selectProjects'];
const PLATFORMS = [...JEST, 'platforms', '--testTimeout=120000'];
const npm = (/** @type {string[]} */ ...args) => [String(process.env['npm_execpath']), ...args];

/**
 * Commands that Node.js runs, one after the other. The options go to the last one.
 * @type {Record<string, { what: string, builds?: boolean, commands: string[][] }>}
 */
const CHECKS = {
  package: {
    what: 'publint, are-the-types-wrong, knip',
    commands: [
      npm('exec', '--', 'publint', '--strict'),
      npm('exec', '--', 'attw', '--pack', '.'),
      npm('exec', '--', 'knip'),
    ],
  },
  matrix: {
    what: 'the tests on Node.js 20, 22, 24, 26 and both OpenTelemetry lines, from the tarball',
    commands: [['test/matrix/run.mjs']],
  },
  compat: {
    what: 'SDKs, frameworks, bundlers, loaders, test runners; --quick for the fast ones',
    commands: [['test/compat/run.mjs']],
  },
  adopt: {
    what: 'the tarball in empty applications: npm, pnpm, yarn 1 and 4, both module formats',
    commands: [['test/adopt/run.mjs']],
  },
  docs: {
    what: 'each command of README.md and docs/, typed in an empty folder; two minutes',
    builds: true,
    commands: [['test/adopt/docs.mjs']],
  },
  examples: {
    what: 'each folder of examples/, from the tarball; --quick for those with few dependencies',
    commands: [['test/adopt/examples.mjs']],
  },
  peers: {
    what: "other packages' own tests, without and with this one",
    commands: [['test/peers/run.mjs']],
  },
  stack: {
    what: 'Collector, Jaeger, Tempo and Prometheus, built with Go',
    builds: true,
    commands: [['test/stack/run.mjs']],
  },
  rules: {
    what: "Prometheus' rules and the dashboard's queries, with promtool",
    commands: [['scripts/test-rules.mjs']],
  },
  grafana: {
    what: "the dashboard and Grafana's alerts are what deploy/grafana/dashboard/ generates",
    commands: [
      npm('ci', '--prefix', 'deploy/grafana'),
      npm('run', '--prefix', 'deploy/grafana', 'check'),
    ],
  },
  deploy: {
    what: "the package as deploy/'s images make it, and the Lambda layer",
    builds: true,
    commands: [['scripts/check-deploy.mjs']],
  },
  outputs: {
    what: 'the package without each of its outputs: src/outputs/output.ts',
    commands: [['scripts/check-outputs.mjs']],
  },
  page: {
    what: 'the report page, in Chromium by role and text',
    builds: true,
    commands: [[...JEST, 'page']],
  },
  operator: {
    what: "the Operator's image, made in a folder",
    commands: [[...PLATFORMS, 'operator']],
  },
  lambda: { what: 'the Lambda layer: flush, freeze, thaw', commands: [[...PLATFORMS, 'lambda']] },
  runtimes: { what: 'Bun, Deno, Electron', commands: [[...PLATFORMS, 'runtimes']] },
  soak: {
    what: 'nothing lost, nothing invented, memory flat: --minutes 30',
    builds: true,
    commands: [['bench/soak.mjs']],
  },
  release: {
    what: 'makes release/: the tarball, its SBOM, the notes, the checksums',
    commands: [['scripts/release-files.mjs']],
  },
  explain: {
    what: 'FILE: what the rules say of the blocks in a file of the option recordFile',
    commands: [['scripts/explain.mjs']],
  },
  semconv: {
    what: 'makes src/semconv.ts and the lists of docs/reference.md',
    commands: [['scripts/generate-semconv.mjs']],
  },
  transcripts: {
    what: 'makes the transcripts in docs/, from the tarball in a new application',
    builds: true,
    commands: [['scripts/render-transcripts.mjs']],
  },
  pictures: {
    what: 'makes the pictures of the report page; needs Chromium',
    builds: true,
    commands: [['scripts/pictures.mjs']],
  },
};

const [name = '', ...options] = process.argv.slice(2);
const check = Object.hasOwn(CHECKS, name) ? CHECKS[name] : undefined;
if (check === undefined) {
  const list = Object.entries(CHECKS).map(([each, { what }]) => `  ${each.padEnd(12)} ${what}`);
  console.error(`npm run check -- <name> [options]\n\n${list.join('\n')}`);
  process.exitCode = 1;
} else {
  if (check.builds) await buildIfStale();
  check.commands.every((command, i) => {
    const args = i === check.commands.length - 1 ? [...command, ...options] : command;
    process.exitCode =
      spawnSync(process.execPath, args, { cwd: ROOT, stdio: 'inherit' }).status ?? 1;
    return process.exitCode === 0;
  });
}
