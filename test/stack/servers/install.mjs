// The real servers, built from their Go modules at pinned versions into `.stack/` (git ignores it),
// once: a later call gets what is there. Needs Go; nothing of it is installed anywhere else. `node
// test/stack/servers/install.mjs [collector] [jaeger] [prometheus]` builds all, or the ones
// named, and prints where they are.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const HERE = import.meta.dirname;
const CACHE = join(HERE, '../../../.stack/servers');
const OLDEST_GO = [1, 26];
const LONGEST_OUTPUT = 64 * 1024 * 1024;

/** Built inside of their own modules, which have the checksums of all that they need. */
export const MODULES = {
  // Jaeger v2 is in the module of v1: v1.76.0 is v2.13.0. One of its dependencies was withdrawn and
  // published again with another checksum.
  jaeger: {
    module: 'github.com/jaegertracing/jaeger@v1.76.0',
    sum: 'h1:sWCOOF1dr+NL0PLil7mFo3BqqQL8k4WiM7aguFbc14g=',
    options: ['-mod=mod'],
  },
  // Without the discovery of services in clouds, which is most of the build.
  prometheus: {
    module: 'github.com/prometheus/prometheus@v0.315.0',
    sum: 'h1:sFGZWmC2Hk9N1NBJGCnXYZb5hyLCq8yuAMoEjLAg6ac=',
    options: ['-tags=remove_all_sd'],
  },
};

/** Not in the way of other work, and the same on every machine. */
const GO_ENVIRONMENT = { GOFLAGS: '-buildvcs=false -p=2', GOTOOLCHAIN: 'local', GOWORK: 'off' };
const BUILD = ['build', '-trimpath', '-ldflags=-s -w'];

/**
 * @typedef {object} Server
 * @property {string} key what the build depends on
 * @property {string[]} programs
 * @property {(folder: string) => Promise<unknown>} build puts the programs into the folder
 */

/** @type {Record<string, Server>} */
export const SERVERS = {
  collector: {
    key: hashOf('collector'),
    programs: ['otelcol'],
    build: (folder) => go('collector', ...BUILD, '-o', join(folder, 'otelcol'), '.'),
  },
  jaeger: serverOf(MODULES.jaeger, ['jaeger']),
  prometheus: serverOf(MODULES.prometheus, ['prometheus', 'promtool']),
};

/** The files of a module, so that a change of any of them means another build. */
function hashOf(name) {
  const hash = createHash('sha256');
  for (const file of readdirSync(join(HERE, name)).sort())
    hash.update(file).update(readFileSync(join(HERE, name, file)));
  return hash.digest('hex');
}

async function go(folder, ...args) {
  const cwd = join(HERE, folder);
  const env = { ...process.env, ...GO_ENVIRONMENT };
  try {
    return await run('go', args, { cwd, env, maxBuffer: LONGEST_OUTPUT });
  } catch (error) {
    throw new Error(`go ${args.join(' ')} failed in ${folder}:\n${error.stderr || error.message}`, {
      cause: error,
    });
  }
}

/** @returns {Server} */
function serverOf({ module, sum, options }, programs) {
  const build = async (folder) => {
    const { stdout } = await go('.', 'mod', 'download', '-json', module);
    const { Dir: sources, Sum: found } = JSON.parse(stdout);
    if (found !== sum) throw new Error(`${module} has the checksum ${found}, not ${sum}`);
    const commands = programs.map((program) => `./cmd/${program}`);
    await go(relative(HERE, sources), ...BUILD, ...options, '-o', `${folder}/`, ...commands);
  };
  return { key: sum, programs, build };
}

async function requireGo() {
  const needed = `Go ${OLDEST_GO.join('.')} or later`;
  const version = await run('go', ['env', 'GOVERSION']).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
  if (!version)
    throw new Error(
      `the servers are built from their sources: ${needed} must be on the PATH (https://go.dev/dl/)`,
    );
  const [, major, minor] = /^go(\d+)\.(\d+)/.exec(version)?.map(Number) ?? [];
  if (major === OLDEST_GO[0] && minor < OLDEST_GO[1])
    throw new Error(`the servers need ${needed}, this is ${version}`);
}

/**
 * @param {string} name a key of {@link SERVERS}
 * @param {(line: string) => void} [log] called only when something has to be built
 * @returns {Promise<Record<string, string>>} program to path
 */
export async function install(name, log = () => {}) {
  if (!Object.hasOwn(SERVERS, name)) throw new Error(`${name}: one of ${Object.keys(SERVERS)}`);
  const { key, programs, build } = SERVERS[name];
  const folder = join(
    CACHE,
    `${name}-${createHash('sha256').update(key).digest('hex').slice(0, 12)}`,
  );
  if (!existsSync(folder)) {
    await requireGo();
    const started = performance.now();
    log(`building ${name}, which takes minutes the first time`);
    // What an interrupted build has left is made anew.
    const incomplete = `${folder}.incomplete`;
    rmSync(incomplete, { recursive: true, force: true });
    mkdirSync(incomplete, { recursive: true });
    await build(incomplete);
    renameSync(incomplete, folder);
    log(`built ${name} in ${Math.round((performance.now() - started) / 1000)} s`);
  }
  return Object.fromEntries(programs.map((program) => [program, join(folder, program)]));
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(SERVERS);
  for (const name of names) {
    const programs = await install(name, console.error);
    for (const [program, path] of Object.entries(programs)) console.log(`${program}\t${path}`);
  }
}
