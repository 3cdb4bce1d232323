/**
 * Runtimes that have the modules of Node.js, from npm: nothing crashes, what they lack is logged
 * once, and what works is what docs/platforms.md says. Electron is left out if it cannot be
 * installed, unless RUNTIMES names it.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { npm } from '../../tools/npm.cjs';
import { pack } from '../../tools/pack.cjs';
import { Service } from './support/service.ts';

const ROOT = resolve(__dirname, '../..');
const PACKAGE = 'opentelemetry-instrumentation-event-loop';
const BUILD_MILLIS = 600_000;
const NEEDED = (process.env['RUNTIMES'] ?? '').split(',').filter(Boolean);

interface Measured {
  readonly blocks: number;
  readonly health: { maxLagMillis: number; knowsUtilization: boolean };
  readonly messages: string[];
}

const NO_ITERATIONS =
  'warn: this runtime does not count loop iterations (Node.js 20.18 and 22.8 do): ' +
  'blocks are not found, and utilization is unknown';

interface Runtime {
  readonly name: string;
  /** Below `node_modules`. */
  readonly binary: string;
  readonly args: readonly string[];
  readonly main?: string;
  /** Before the entry that is preloaded; undefined if nothing can be. */
  readonly preload?: string;
  readonly messages: readonly string[];
}

const RUNTIMES: readonly Runtime[] = [
  {
    name: 'bun',
    binary: '.bin/bun',
    args: [],
    preload: '--preload',
    messages: [NO_ITERATIONS],
  },
  {
    name: 'deno',
    binary: '.bin/deno',
    args: ['run', '--allow-all'],
    preload: '--preload',
    messages: [NO_ITERATIONS],
  },
  {
    name: 'electron',
    binary: '.bin/electron',
    args: ['--no-sandbox'],
    main: 'electron.cjs',
    messages: [NO_ITERATIONS],
  },
];

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'event-loop-runtimes-'));
  execFileSync(process.execPath, [join(ROOT, 'scripts/build.mjs'), '--if-stale']);
  cpSync(join(__dirname, 'apps/runtimes'), folder, { recursive: true });
  cpSync(join(ROOT, 'test/support/thread-times.cjs'), join(folder, 'thread-times.cjs'));
  npm(['install', '--prefer-offline', pack().path], folder);
}, BUILD_MILLIS);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Electron's package fetches its binary from elsewhere, and cannot everywhere. */
const isOptional = (name: string) => name === 'electron' && !NEEDED.includes(name);

function isInstalled({ name, binary }: Runtime): boolean {
  try {
    npm(['install', '--prefer-offline', name], folder);
  } catch (error) {
    if (!isOptional(name)) throw error;
    console.warn(`${name} is left out: it cannot be installed`);
  }
  return existsSync(join(folder, 'node_modules', binary));
}

async function start(runtime: Runtime, args: string[]): Promise<Service> {
  const service = Service.start(
    join(folder, 'node_modules', runtime.binary),
    [...runtime.args, ...args],
    {
      cwd: folder,
      env: {
        NO_COLOR: '1',
        OTEL_TRACES_EXPORTER: 'console',
        OTEL_METRICS_EXPORTER: 'none',
        OTEL_LOGS_EXPORTER: 'none',
      },
    },
  );
  expect({ ...(await service.ended()), stderr: service.stderr }).toMatchObject({ code: 0 });
  return service;
}

describe.each(RUNTIMES)('$name', (runtime) => {
  let isThere = false;
  beforeAll(() => {
    isThere = isInstalled(runtime);
  }, BUILD_MILLIS);

  test('the lag is measured, no block is found, and that is logged once', async () => {
    if (!isThere) return;
    const service = await start(runtime, [runtime.main ?? 'main.mjs']);
    const line = service.stdout.split('\n').find((each) => each.startsWith('{'));
    const measured = JSON.parse(line ?? '{}') as Measured;

    expect(measured.messages).toEqual(runtime.messages);
    expect(measured.blocks).toBe(0);
    expect(measured.health.maxLagMillis).toBeGreaterThan(250);
    expect(measured.health.knowsUtilization).toBe(false);
  });

  test('/register and /console, preloaded', async () => {
    const { preload } = runtime;
    if (!isThere || preload === undefined) return;
    const entry = (name: string) => `./node_modules/${PACKAGE}/dist/${name}.mjs`;

    const registered = await start(runtime, [preload, entry('register'), './preloaded.cjs']);
    expect(registered.stderr).toBe('');

    const reported = await start(runtime, [preload, entry('console'), './preloaded.cjs']);
    expect(reported.stdout).toBe('');
    expect(reported.stderr).not.toContain('cannot start');
  });
});

test('docs/platforms.md names each', () => {
  const page = readFileSync(join(ROOT, 'docs/platforms.md'), 'utf8').toLowerCase();
  for (const { name } of RUNTIMES) expect(page).toContain(name);
});
