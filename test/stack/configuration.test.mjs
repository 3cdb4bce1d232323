// What can be known of the files without a server that runs: compose takes them, everything that
// they name is there, and nothing in them contradicts anything else.
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { install, MODULES } from './servers/install.mjs';
import { readCompose } from './support/compose.mjs';
import { grafanaAlerts, readRules } from './support/expressions.mjs';
import { COLLECTOR_CONFIG, ROOT, TAIL_SAMPLING_CONFIG } from './support/stack.mjs';

const run = promisify(execFile);
const COMPOSE_FILES = ['docker-compose.yml', 'deploy/tail-sampling/docker-compose.yml'];
const PINNED = /:v?\d+\.\d+\.\d+(?:-[\w.-]+)?(?:@sha256:[0-9a-f]{64})?$/;
/** In the reduced form, see run.mjs, without what needs another server built. */
const testInFull = process.env.STACK_REDUCED === '1' ? test.skip : test;
const FROM = /^FROM (\S+)/gm;
const read = (file) => readFileSync(join(ROOT, file), 'utf8');
const readJson = (file) => JSON.parse(read(file));

const { services } = readCompose();
const named = Object.entries(services);
const demoDockerfile = read('deploy/demo-image/Dockerfile');
const collectorDockerfile = services.collector.build.dockerfile_inline;

describe('docker-compose.yml', () => {
  const hasCompose = spawnSync('docker', ['compose', 'version']).status === 0;
  (hasCompose ? test : test.skip).each([[COMPOSE_FILES.slice(0, 1)], [COMPOSE_FILES]])(
    'docker compose takes %j',
    async (files) => {
      const options = files.flatMap((file) => ['--file', join(ROOT, file)]);
      await run('docker', ['compose', ...options, 'config', '--quiet']);
    },
  );

  test('every file and folder that is mounted exists', () => {
    const mounted = named.flatMap(([, { volumes = [] }]) =>
      volumes.map((volume) => volume.split(':')[0]),
    );
    const files = mounted.filter((source) => source.startsWith('.'));
    expect(files.length).toBeGreaterThan(0);
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });

  test('every other volume is a named one', () => {
    const mounted = named.flatMap(([, { volumes = [] }]) =>
      volumes.map((volume) => volume.split(':')[0]),
    );
    const names = mounted.filter((source) => !source.startsWith('.'));
    expect(names.toSorted()).toEqual(Object.keys(readCompose().volumes).toSorted());
  });

  test.each(named)(
    '%s: not root, without capabilities, read-only, on loopback only, and without a password',
    (_name, service) => {
      expect(service.user).toMatch(/^[1-9]\d*:\d+$/);
      expect(service.cap_drop).toEqual(['ALL']);
      expect(service.read_only).toBe(true);
      expect(service.mem_limit).toMatch(/^\d+[mg]$/);
      expect(service.security_opt).toEqual(['no-new-privileges:true']);
      expect(service.privileged).toBeUndefined();
      for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
      for (const name of Object.keys(service.environment ?? {}))
        expect(name).not.toMatch(/PASSWORD|SECRET|TOKEN/);
    },
  );

  test('every image is pinned', () => {
    const built = [demoDockerfile, collectorDockerfile].flatMap((file) =>
      [...file.matchAll(FROM)].map(([, image]) => image),
    );
    const pulled = named.filter(([, { build }]) => !build).map(([, { image }]) => image);
    expect([...built, ...pulled].filter((image) => !PINNED.test(image))).toEqual([]);
    expect(pulled.length).toBeGreaterThan(0);
    // Those of Docker's own library are built anew under the same tag, with what is mended in them.
    expect(pulled.filter((image) => !image.includes('@sha256:'))).toEqual([]);
  });

  test('every service has a health check but the load, and the collector, whose image has no program for one', () => {
    const without = named.filter(([, { healthcheck }]) => !healthcheck).map(([name]) => name);
    expect(without).toEqual(['load', 'collector']);
  });
});

describe('the addresses', () => {
  const FILES = {
    collector: ['collector-config.yaml'],
    jaeger: ['deploy/jaeger/jaeger.yaml'],
    tempo: ['deploy/tempo/tempo.yaml'],
  };
  const VARIABLE = /\$\{(?:env:)?(\w+):-([^}]*)\}/g;

  test.each(Object.entries(FILES))(
    '%s: what compose sets is the default of its configuration file',
    (name, files) => {
      const defaults = Object.fromEntries(
        files.flatMap((file) =>
          [...read(file).matchAll(VARIABLE)].map(([, variable, value]) => [variable, value]),
        ),
      );
      const set = services[name].environment;
      for (const [variable, value] of Object.entries(set))
        expect([variable, defaults[variable]]).toEqual([variable, value]);
      const addresses = Object.keys(defaults).filter((variable) =>
        /_(?:LISTEN|ENDPOINT|HOST|PORT)$/.test(variable),
      );
      expect(addresses.filter((variable) => !(variable in set))).toEqual([]);
    },
  );
});

describe('the image of the demo service', () => {
  test('what it installs are the versions of the tests', () => {
    const { dependencies, devDependencies } = readJson('package.json');
    const tested = { ...dependencies, ...devDependencies };
    const installed = readJson('deploy/demo-image/package.json').dependencies;
    const shared = Object.keys(installed);
    expect(shared.map((name) => [name, installed[name]])).toEqual(
      shared.map((name) => [name, tested[name]]),
    );
  });

  test('it installs everything that the package depends on', () => {
    const locked = readJson('deploy/demo-image/package-lock.json').packages;
    const { dependencies = {}, peerDependencies } = readJson('package.json');
    for (const name of Object.keys({ ...dependencies, ...peerDependencies }))
      expect(locked).toHaveProperty([`node_modules/${name}`]);
  });
});

describe('the collector', () => {
  test.each([[[COLLECTOR_CONFIG]], [[COLLECTOR_CONFIG, TAIL_SAMPLING_CONFIG]]])(
    'takes %j',
    async (files) => {
      const { otelcol } = await install('collector');
      await run(otelcol, ['validate', ...files.map((file) => `--config=${file}`)]);
    },
  );

  test('the one that is tested is the one that compose runs', () => {
    const image = [...collectorDockerfile.matchAll(FROM)].at(-1)[1];
    const [, version] = /:([\d.]+)@/.exec(image);
    const modules = read('test/stack/servers/collector/go.mod').matchAll(
      /opentelemetry-collector-contrib\/\S+ v(\S+)$/gm,
    );
    expect(new Set([...modules].map(([, tested]) => tested))).toEqual(new Set([version]));
    expect(services.collector.image).toMatch(new RegExp(`:${version}$`));
  });
});

describe('Prometheus', () => {
  const promtool = async (...args) => run((await install('prometheus')).promtool, args);

  testInFull('takes its configuration and the rules', () =>
    promtool('check', 'config', join(ROOT, 'deploy/prometheus/prometheus.yaml')),
  );

  test('the one that is tested is the one that compose runs', () => {
    // The module of Prometheus 3.15 is v0.315.
    const [, module] = /@v0\.(\d+)\.0$/.exec(MODULES.prometheus.module);
    const [, major, minor] = /:v(\d+)\.(\d+)\.\d+@/.exec(services.prometheus.image);
    expect(`${major}${minor}`).toBe(module);
  });

  test("Grafana's alerts ask what its alerts ask", () => {
    const alerts = readRules().filter(({ alert }) => alert);
    const ofPrometheus = alerts.map(({ alert, expr }) => [alert, expr]);
    const ofGrafana = [...grafanaAlerts()].map(({ where, expression }) => [where, expression]);
    expect(ofGrafana).toEqual(ofPrometheus);
  });
});
