// Guarantees: a stranger can adopt the packed tarball. In an empty folder it is added with npm,
// pnpm, yarn 1 and yarn 4 (Plug'n'Play) to an application in TypeScript, which is compiled to ES
// modules or CommonJS. The application blocks once, and the block must arrive: with an SDK of its
// own, with `/register` and with `/console`. The commands of README.md are run by
// `check -- transcripts`.
//
//   npm run check -- adopt                                    16 combinations
//   npm run check -- adopt --managers npm,pnpm --nodes 22,24
//   npm run check -- adopt --keep                             leaves the applications there
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { npm } from '../../tools/npm.cjs';
import { OtlpReceiver } from '../../tools/otlp-receiver.cjs';
import { pack } from '../../tools/pack.cjs';
import { MATRIX, PACKAGE_NAME, ROOT } from '../../tools/paths.cjs';
import { table } from '../../tools/table.cjs';
import { installNode } from '../matrix/nodes.mjs';

const TOOLS = join(MATRIX, 'managers');
const TIMEOUT_MILLIS = 240_000;
/** Node.js before 22.15 gets the line that supports it, others what is newest. */
const LEGACY = [
  'api@1.9',
  'sdk-node@0.223',
  'instrumentation-http@0.223',
  'auto-instrumentations-node@0.81',
];
const NEWEST = LEGACY.map((name) => name.split('@', 1)[0]);

/**
 * @typedef {object} Manager
 * @property {string} is its package and version
 * @property {string} cli below `node_modules/`
 * @property {string} add the command that adds dependencies
 * @property {string[]} exec the command that runs a program of a dependency
 * @property {string[]} [node] the command that runs Node.js, if it takes one
 * @property {Record<string, string>} [files] what the folder has at first
 * @property {string} [typescript] version, if the newest does not know the manager
 */
/** @type {Record<string, Manager>} */
const MANAGERS = {
  npm: { is: 'npm@11', cli: 'npm/bin/npm-cli.js', add: 'install', exec: ['exec', '--'] },
  pnpm: {
    is: 'pnpm@12.4.2',
    cli: 'pnpm/bin/pnpm.mjs',
    add: 'add',
    exec: ['exec'],
    // OpenTelemetry's protobufjs has one, and does without it.
    files: { 'pnpm-workspace.yaml': 'strictDepBuilds: false\n' },
  },
  yarn1: { is: 'yarn@1.22.22', cli: 'yarn/bin/yarn.js', add: 'add', exec: ['--silent', 'run'] },
  yarn4: {
    is: '@yarnpkg/cli-dist@4.18.1',
    cli: '@yarnpkg/cli-dist/bin/yarn.js',
    add: 'add',
    exec: ['run'],
    node: ['node'],
    files: { 'yarn.lock': '', '.yarnrc.yml': 'nodeLinker: pnp\nenableTelemetry: false\n' },
    typescript: '5.9',
  },
};
/** Settings of whoever runs this are not the stranger's, but for how to reach a registry. */
const SETTINGS = /^(npm_|INIT_CWD$|NODE_OPTIONS$|OTEL_)/i;
const CA_FILE = npm(['config', 'get', 'cafile'], ROOT).trim();
const clean = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !SETTINGS.test(name))),
  ...(CA_FILE !== 'null' && { NODE_EXTRA_CA_CERTS: CA_FILE, YARN_HTTPS_CA_FILE_PATH: CA_FILE }),
  YARN_NPM_REGISTRY_SERVER: npm(['config', 'get', 'registry'], ROOT).trim(),
  YARN_ENABLE_IMMUTABLE_INSTALLS: 'false',
};
const TYPES = { esm: 'module', cjs: 'commonjs' };
const TSCONFIG = {
  compilerOptions: {
    strict: true,
    target: 'es2022',
    module: 'nodenext',
    types: ['node'],
    rootDir: 'ts',
    outDir: 'out',
  },
  include: ['ts'],
};

const { values: options } = parseArgs({
  options: {
    managers: { type: 'string', default: Object.keys(MANAGERS).join() },
    nodes: { type: 'string', default: '20,26' },
    formats: { type: 'string', default: Object.keys(TYPES).join() },
    keep: { type: 'boolean', default: false },
  },
});
const [managers, nodes, formats] = [options.managers, options.nodes, options.formats].map((each) =>
  each.split(','),
);

npm(['run', 'build'], ROOT);
const tarball = pack().path;
const folder = mkdtempSync(join(tmpdir(), 'adopt-'));
const rows = [];
try {
  mkdirSync(TOOLS, { recursive: true });
  writeFileSync(join(TOOLS, 'package.json'), '{ "private": true }');
  npm(
    ['install', '--no-save', '--no-package-lock', ...managers.map((name) => MANAGERS[name].is)],
    TOOLS,
  );
  for (const name of managers)
    for (const major of nodes) for (const format of formats) await adopt(name, major, format);
} finally {
  if (options.keep) console.log(folder);
  else rmSync(folder, { recursive: true, force: true });
}
const failures = rows.filter(([, , , result]) => result !== 'passed').length;
console.log(`\n${table(['manager', 'Node.js', 'format', 'result'], rows)}`);
console.log(`\n${rows.length - failures} passed, ${failures} failed`);
process.exitCode = failures > 0 || rows.length === 0 ? 1 : 0;

/**
 * Makes an application and runs it.
 * @param {string} name
 * @param {string} major
 * @param {string} format
 */
async function adopt(name, major, format) {
  const manager = MANAGERS[name];
  const node = installNode(Number(major));
  const cwd = join(folder, `${name}-${major}-${format}`);
  const run = (/** @type {string[]} */ args, env = {}) =>
    execute(node.path, [join(TOOLS, 'node_modules', manager.cli), ...args], cwd, env);
  const runNode = (/** @type {string[]} */ args, env = {}) =>
    manager.node ? run([...manager.node, ...args], env) : execute(node.path, args, cwd, env);

  mkdirSync(cwd);
  cpSync(join(import.meta.dirname, 'app'), join(cwd, 'ts'), { recursive: true });
  const files = {
    'package.json': JSON.stringify({ name: 'app', private: true, type: TYPES[format] }),
    'tsconfig.json': JSON.stringify(TSCONFIG),
    ...manager.files,
  };
  for (const [file, content] of Object.entries(files)) writeFileSync(join(cwd, file), content);

  const otel = (Number(major) < 22 ? LEGACY : NEWEST).map((one) => `@opentelemetry/${one}`);
  const types = `@types/node@${Math.min(Number(major), 24)}`;
  const result = await attempt(async () => {
    await run([manager.add, `${PACKAGE_NAME}@file:${tarball}`, ...otel]);
    await run([manager.add, '-D', `typescript@${manager.typescript ?? 'latest'}`, types]);
    await run([...manager.exec, 'tsc']);
    await startEach(runNode, format);
  });
  console.log(`${name}, ${node.version}, ${format}: ${result ?? 'passed'}`);
  rows.push([name, node.version, format, result?.split('\n', 1)[0] ?? 'passed']);
}

/** Starts the application in each way; throws if its block does not arrive. */
async function startEach(runNode, format) {
  const preload = format === 'esm' ? '--import' : '--require';
  const ways = { sdk: './out/telemetry.js', register: `${PACKAGE_NAME}/register` };
  for (const [way, module] of Object.entries(ways)) {
    const receiver = await OtlpReceiver.listen();
    const env = { ...receiver.env, OTEL_METRICS_EXPORTER: 'none', OTEL_LOGS_EXPORTER: 'none' };
    try {
      const said = await runNode([preload, module, 'out/app.js'], env);
      const { spans } = receiver;
      const [block, ...others] = spans.filter(
        ({ attributes }) => attributes['code.function.name'] === 'renderReport',
      );
      const names = spans.map((span) => span.name).join(', ') || said;
      if (block?.name !== 'event-loop-blocked' || others.length > 0)
        throw new Error(`${way}: not one block of renderReport, in ${names}`);
      // `import` sees what is instrumented under `/register` only.
      if (format === 'esm' && way === 'sdk') continue;
      const parent = spans.find(({ spanId }) => spanId === block.parentSpanId);
      if (parent?.kind !== 2) throw new Error(`${way}: no child of the request, in ${names}`);
    } finally {
      receiver.close();
    }
  }
  const said = await runNode([preload, `${PACKAGE_NAME}/console`, 'out/app.js']);
  if (!/event-loop-blocked .*renderReport \(\S+:\d+:\d+\)/.test(said))
    throw new Error(`console: ${said}`);
}

/** @returns {Promise<string | undefined>} what went wrong */
async function attempt(/** @type {() => Promise<void>} */ act) {
  try {
    await act();
  } catch (error) {
    return error.message;
  }
}

/**
 * @returns {Promise<string>} what it printed
 * @throws {Error} if it fails
 */
async function execute(node, args, cwd, env) {
  const child = spawn(node, args, {
    cwd,
    env: { ...clean, PATH: `${dirname(node)}${delimiter}${process.env.PATH}`, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: TIMEOUT_MILLIS,
  });
  const closed = new Promise((resolve) => child.on('close', (...how) => resolve(how)));
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [status, signal] = await closed;
  const said = `${out}${err}`.trim();
  if (status !== 0 && signal !== 'SIGINT')
    throw new Error(`${args.join(' ')} ended with ${signal ?? status}: ${said}`);
  return said;
}
