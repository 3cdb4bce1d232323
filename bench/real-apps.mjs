// Promises: real applications, started as their users do with `/register`, and driven until they block: every block over the threshold, with
// the place that is named for it. Right is the application, or a package that it calls itself; never an agent's hook. Needs Node.js 22: Verdaccio does.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { npm } from '../tools/npm.cjs';

const ROOT = join(import.meta.dirname, '..');
const VERDACCIO = join(import.meta.dirname, 'real-apps/verdaccio');
const THRESHOLD_MILLIS = 20;
const VERSIONS = 4000;
const REQUESTS = 5;
const START_MILLIS = 60_000;
/** An agent's code: it has work of its own, but is nobody's place where it only wraps what the application does. */
const AGENT =
  /require-in-the-middle|import-in-the-middle|@opentelemetry|instrumentation-event-loop/;
const APPLICATION = /node_modules\/@?verdaccio\//;

/** @type {import('./support/registry.mjs').Bench} */
export default {
  name: 'real-apps',
  about: 'what is named for the blocks of real applications',
  minutes: 2,
  options: {},
  async run({ nodes, report }) {
    for (const { path, version } of nodes) {
      const blocks = await runVerdaccio(path);
      /** @type {Map<string, { place: string, count: number, millis: number, causes: Set<string> }>} */
      const places = new Map();
      for (const { millis, place, cause } of blocks) {
        const known = places.get(place) ?? { place, count: 0, millis: 0, causes: new Set() };
        places.set(place, known);
        known.count++;
        known.causes.add(cause);
        known.millis = Math.max(known.millis, millis);
      }
      const hooks = blocks.filter(
        ({ place, stack }) => AGENT.test(place) && APPLICATION.test(stack ?? ''),
      ).length;
      report.table(
        `Node.js ${version}: ${blocks.length} blocks of Verdaccio over ${THRESHOLD_MILLIS} ms; ${hooks} of the application's named by an agent's hook`,
        ['place', 'cause', 'blocks', 'longest, ms'],
        [...places.values()]
          .sort((a, b) => b.millis - a.millis)
          .map(({ place, count, millis, causes }) => [
            place,
            [...causes].join(', '),
            String(count),
            millis.toFixed(0),
          ]),
        blocks,
      );
    }
  },
};

/** The registry, with a package of very many versions. */
async function runVerdaccio(/** @type {string} */ node) {
  if (!existsSync(join(VERDACCIO, 'node_modules'))) {
    console.error('installing Verdaccio, once: npm ci in bench/real-apps/verdaccio');
    npm(['ci', '--ignore-scripts'], VERDACCIO);
  }
  const folder = mkdtempSync(join(tmpdir(), 'verdaccio-'));
  const config = join(folder, 'config.yaml');
  writeFileSync(
    config,
    `storage: ${folder}/storage
auth: { htpasswd: { file: ${folder}/htpasswd } }
packages: { '**': { access: $all, publish: $all } }
log: { type: stdout, level: fatal }
`,
  );
  mkdirSync(join(folder, 'storage/large'), { recursive: true });
  writeFileSync(join(folder, 'storage/large/package.json'), JSON.stringify(packument(VERSIONS)));
  const output = join(folder, 'blocks');
  writeFileSync(output, '');
  const port = await freePort();
  const child = spawn(
    node,
    [
      '--require',
      join(ROOT, 'dist/register.cjs'),
      '--require',
      join(import.meta.dirname, 'real-apps/listen.cjs'),
      join(VERDACCIO, 'node_modules/verdaccio/bin/verdaccio'),
      '--config',
      config,
      '--listen',
      `127.0.0.1:${port}`,
    ],
    {
      // As from a global installation: what is run is then the application.
      cwd: folder,
      env: {
        ...process.env,
        OTEL_INSTRUMENTATION_EVENT_LOOP_THRESHOLD_MILLIS: String(THRESHOLD_MILLIS),
        REAL_APPS_BLOCKS: output,
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  try {
    const url = `http://127.0.0.1:${port}`;
    await ready(url);
    const large = `${url}/large`;
    for (let i = 0; i < REQUESTS; i++) {
      await get(large);
      await get(large, { accept: 'application/vnd.npm.install-v1+json' });
      await get(`${large}/1.0.${i}`);
      await get(`${url}/-/verdaccio/data/sidebar/large`);
      await get(`${url}/-/v1/search?text=large`);
    }
    await sleep(500);
    child.kill('SIGTERM');
    await once(child, 'exit');
    return blocksIn(readFileSync(output, 'utf8'));
  } finally {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

/** With the place that each is named by, and how much of it the application did not do itself. */
function blocksIn(/** @type {string} */ text) {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const { durationMillis, code, cause, gcTimeMillis, samples } = JSON.parse(line);
      return {
        millis: durationMillis,
        place: code ? `${code.functionName} (${shortFile(code.file)}:${code.line})` : `no name`,
        cause: cause ?? 'not known',
        gcMillis: gcTimeMillis,
        samples,
        stack: code?.stackTrace,
      };
    });
}

const shortFile = (/** @type {string} */ file = '') =>
  file.slice(Math.max(0, file.lastIndexOf('/node_modules/')));

/** What a registry has of a package. */
function packument(/** @type {number} */ count) {
  const versions = {};
  const time = {};
  const distfiles = {};
  const attachments = {};
  for (let i = 0; i < count; i++) {
    const version = `1.0.${i}`;
    versions[version] = {
      name: 'large',
      version,
      description: 'a package with very many versions',
      keywords: ['one', 'two', 'three'],
      dependencies: Object.fromEntries(
        Array.from({ length: 20 }, (_, n) => [`dependency-${n}`, `^${n}.${i % 10}.0`]),
      ),
      maintainers: [{ name: 'somebody', email: 'somebody@example.com' }],
      readmeFilename: 'README.md',
      dist: { shasum: 'a'.repeat(40), tarball: `http://localhost/large/-/large-${version}.tgz` },
    };
    time[version] = new Date(1.6e12 + i * 3.6e6).toISOString();
    attachments[`large-${version}.tgz`] = { shasum: 'a'.repeat(40), version };
  }
  return {
    name: 'large',
    versions,
    time: { ...time, created: '2020-01-01T00:00:00.000Z', modified: '2026-01-01T00:00:00.000Z' },
    users: {},
    'dist-tags': { latest: `1.0.${count - 1}` },
    _uplinks: {},
    _distfiles: distfiles,
    _attachments: attachments,
    _rev: '1-0',
    _id: 'large',
    readme: '# large',
  };
}

async function get(/** @type {string} */ url, /** @type {Record<string, string>} */ headers = {}) {
  const response = await fetch(url, { headers });
  await response.arrayBuffer();
  return response.status;
}

async function ready(/** @type {string} */ url) {
  for (const until = Date.now() + START_MILLIS; Date.now() < until; await sleep(200)) {
    const status = await get(`${url}/-/ping`).catch(() => 0);
    if (status === 200) return;
  }
  throw new Error('Verdaccio did not start');
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  server.close();
  return port;
}
