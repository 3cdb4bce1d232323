// Promises: real applications, started as their users do with `/register`, and driven until they
// block: every block over the threshold, with the place that is named for it. Right is the
// application, or a package that it calls itself; never an agent's hook. Needs Node.js 22:
// Verdaccio does.
//
//   npm run bench -- real-apps --app next --node .matrix/node-24/node_modules/.bin/node
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { npm } from '../tools/npm.cjs';
import { PACKAGE_NAME, ROOT } from '../tools/paths.cjs';

const VERDACCIO = join(import.meta.dirname, 'real-apps/verdaccio');
const NEXT = join(import.meta.dirname, 'real-apps/next');
/** Where the package lies for an application, so that its files are a package's. */
const INSTALLED = join(import.meta.dirname, 'real-apps/node_modules', PACKAGE_NAME);
const THRESHOLD_MILLIS = 20;
const VERSIONS = 4000;
const REQUESTS = 5;
const START_MILLIS = 60_000;
const PAGES = [
  'articles/one',
  'table',
  'api/login',
  'api/report',
  'api/export',
  'api/orders',
  'api/highlight',
  'api/lookup',
  'legacy',
];
/**
 * An agent's code: it has work of its own, but is nobody's place where it only wraps what the
 * application does.
 */
const AGENT =
  /require-in-the-middle|import-in-the-middle|@opentelemetry|instrumentation-event-loop/;

/**
 * @typedef {{ millis: number, place: string, cause: string, stack?: string, file?: string }} Block
 * @typedef {{ title: string, run(node: string): Promise<Block[]>, application: RegExp,
 *   direct: RegExp }} App
 *   `application`: its files, in a stack; `direct`: files of the packages that it calls itself.
 */
/** @type {Record<string, App>} */
const APPS = {
  verdaccio: {
    title: 'Verdaccio',
    run: runVerdaccio,
    application: /node_modules\/@?verdaccio\//,
    direct: /node_modules\//,
  },
  next: {
    title: 'a Next.js application',
    run: runNext,
    application: /real-apps\/next\/(?:app|lib|pages|\.next)\//,
    direct: /node_modules\/(?:bcryptjs|graphql|highlight\.js|lodash|marked|next|react|react-dom)\//,
  },
};

/** @type {import('./support/registry.mjs').Bench} */
export default {
  name: 'real-apps',
  about: 'what is named for the blocks of real applications',
  minutes: 4,
  options: { app: { type: 'string', multiple: true } },
  async run({ nodes, options, report }) {
    rmSync(INSTALLED, { recursive: true, force: true });
    for (const name of ['dist', 'package.json'])
      cpSync(join(ROOT, name), join(INSTALLED, name), { recursive: true });
    for (const { path, version } of nodes) {
      for (const name of options.app ?? Object.keys(APPS)) {
        const { title, run, application, direct } = APPS[name];
        const blocks = await run(path);
        /** @type {Map<string, { place: string, count: number, millis: number, causes: Set<string> }>} */
        const places = new Map();
        for (const { millis, place, cause } of blocks) {
          const known = places.get(place) ?? { place, count: 0, millis: 0, causes: new Set() };
          places.set(place, known);
          known.count++;
          known.causes.add(cause);
          known.millis = Math.max(known.millis, millis);
        }
        report.table(
          `Node.js ${version}: ${blocks.length} blocks of ${title} over ${THRESHOLD_MILLIS} ms`,
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
        const count = (/** @type {(block: Block) => boolean} */ is) => blocks.filter(is).length;
        const isAgents = (/** @type {Block} */ { file = '' }) => AGENT.test(file);
        const inApplication = count(({ file = '' }) => application.test(file));
        const inDirect = count(
          ({ file = '' }) => !application.test(file) && direct.test(file) && !AGENT.test(file),
        );
        const hooks = count((block) => isAgents(block) && application.test(block.stack ?? ''));
        report.note(
          `${inApplication} named by a place in the application, ${inDirect} by one in a package that it depends on, ` +
            `${count(({ file }) => file === undefined)} not named, ${count(isAgents)} by an agent's code, ` +
            `${hooks} of them with the application on the stack`,
        );
      }
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
  try {
    return await drive(
      node,
      (port) => [
        join(VERDACCIO, 'node_modules/verdaccio/bin/verdaccio'),
        '--config',
        config,
        '--listen',
        `127.0.0.1:${port}`,
      ],
      // As from a global installation: what is run is then the application.
      folder,
      '/-/ping',
      async (url) => {
        const large = `${url}/large`;
        for (let i = 0; i < REQUESTS; i++) {
          await get(large);
          await get(large, { accept: 'application/vnd.npm.install-v1+json' });
          await get(`${large}/1.0.${i}`);
          await get(`${url}/-/verdaccio/data/sidebar/large`);
          await get(`${url}/-/v1/search?text=large`);
        }
      },
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Pages and route handlers that block, of a production build with the maps of the server. */
async function runNext(/** @type {string} */ node) {
  if (!existsSync(join(NEXT, 'node_modules'))) {
    console.error('installing Next.js, once: npm ci in bench/real-apps/next');
    npm(['ci', '--ignore-scripts'], NEXT);
  }
  const next = join(NEXT, 'node_modules/next/dist/bin/next');
  execFileSync(node, [next, 'build'], {
    cwd: NEXT,
    env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return drive(
    node,
    (port) => [next, 'start', '--hostname', '127.0.0.1', '--port', String(port)],
    NEXT,
    '/',
    async (url) => {
      for (let i = 0; i < REQUESTS; i++) {
        for (const page of PAGES) await get(`${url}/${page}`);
      }
    },
  );
}

/**
 * Starts an application with `/register`, and asks it until it has blocked.
 * @param {string} node
 * @param {(port: number) => string[]} argumentsFor
 * @param {string} cwd
 * @param {string} readyPath
 * @param {(url: string) => Promise<void>} ask
 */
async function drive(node, argumentsFor, cwd, readyPath, ask) {
  const folder = mkdtempSync(join(tmpdir(), 'real-apps-'));
  const output = join(folder, 'blocks');
  writeFileSync(output, '');
  const port = await freePort();
  const child = spawn(
    node,
    [
      '--require',
      join(INSTALLED, 'dist/register.cjs'),
      '--require',
      join(import.meta.dirname, 'real-apps/listen.cjs'),
      ...argumentsFor(port),
    ],
    {
      cwd,
      env: {
        ...process.env,
        NEXT_TELEMETRY_DISABLED: '1',
        OTEL_INSTRUMENTATION_EVENT_LOOP_THRESHOLD_MILLIS: String(THRESHOLD_MILLIS),
        REAL_APPS_BLOCKS: output,
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  try {
    const url = `http://127.0.0.1:${port}`;
    await ready(`${url}${readyPath}`);
    await ask(url);
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
        file: code?.file,
        stack: code?.stackTrace,
      };
    });
}

const shortFile = (/** @type {string} */ file = '') =>
  file.startsWith(NEXT) && !file.includes('/node_modules/')
    ? file.slice(NEXT.length)
    : file.slice(Math.max(0, file.lastIndexOf('/node_modules/')));

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
    const status = await get(url).catch(() => 0);
    if (status === 200) return;
  }
  throw new Error('the application did not start');
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  server.close();
  return port;
}
