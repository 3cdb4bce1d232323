/**
 * The image for the OpenTelemetry Operator, made without Docker: what deploy/operator/Dockerfile
 * copies and runs, in a folder. An application is then started as the Operator would.
 */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { followDockerfile } from '../../tools/dockerfile.mjs';
import { eventually } from '../../tools/harness.cjs';
import { npm } from '../../tools/npm.cjs';
import type { Span } from '../../tools/otlp.cjs';
import { OtlpReceiver } from '../../tools/otlp-receiver.cjs';
import { Service } from './support/service.ts';

const ROOT = resolve(__dirname, '../..');
const BUILD_MILLIS = 600_000;
const PATIENCE_MILLIS = 60_000;

let folder: string;
let mounted: string;

beforeAll(() => {
  // Outside of the repository: nothing in here finds its packages.
  folder = mkdtempSync(join(tmpdir(), 'event-loop-operator-'));
  const { workdir } = followDockerfile(ROOT, 'deploy/operator/Dockerfile', join(folder, 'image'));
  // What the init container runs, into the pod's volume.
  mounted = join(folder, 'otel-auto-instrumentation-nodejs');
  mkdirSync(mounted);
  execFileSync('cp', ['-r', `${workdir}/.`, mounted]);
  rmSync(join(folder, 'image'), { recursive: true });
}, BUILD_MILLIS);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** `nodejs.env` of deploy/operator/instrumentation.yaml. */
function envOfResource(): Record<string, string> {
  const yaml = readFileSync(join(ROOT, 'deploy/operator/instrumentation.yaml'), 'utf8');
  const pairs = yaml.matchAll(/- name: (\S+)\n\s+value: "?([^"\n]+)"?/g);
  return Object.fromEntries([...pairs].map(([, name = '', value = '']) => [name, value]));
}

/** An application's folder, with packages of its own. */
function application(packages: string[] = []): string {
  const app = mkdtempSync(join(folder, 'app-'));
  cpSync(join(__dirname, 'apps'), app, { recursive: true });
  cpSync(join(ROOT, 'test/support/thread-times.cjs'), join(app, 'thread-times.cjs'));
  writeFileSync(join(app, 'package.json'), JSON.stringify({ private: true }));
  if (packages.length > 0) npm(['install', '--prefer-offline', ...packages], app);
  return app;
}

/** What the Operator's webhook adds to a container. */
const injected = (receiver: OtlpReceiver) => ({
  NODE_OPTIONS: ` --require ${mounted}/autoinstrumentation.js`,
  OTEL_METRICS_EXPORTER: 'otlp',
  OTEL_SERVICE_NAME: 'checkout',
  OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
  OTEL_TRACES_SAMPLER_ARG: '1',
  OTEL_PROPAGATORS: 'tracecontext,baggage',
  OTEL_RESOURCE_ATTRIBUTES: 'k8s.pod.name=checkout-1',
  ...envOfResource(),
  ...receiver.env,
});

interface Outcome {
  service: Service;
  receiver: OtlpReceiver;
  block: Span;
  parent: Span;
}

/** Requests until a block names its function: the first ones may come before it is ready. */
async function run(app: string, args: string[], env: NodeJS.ProcessEnv = {}): Promise<Outcome> {
  const receiver = await OtlpReceiver.listen();
  const service = Service.start(process.execPath, args, {
    cwd: app,
    env: { ...injected(receiver), OTEL_BSP_SCHEDULE_DELAY: '100', ...env },
  });
  try {
    const url = await service.listening();
    const block = await eventually('a block that names its function', PATIENCE_MILLIS, async () => {
      await (await fetch(url)).text();
      return receiver
        .named('event-loop-blocked')
        .find((span) => span.attributes['code.function.name'] === 'hashAll');
    });
    expect(await service.ended('SIGTERM')).toEqual({ code: null, signal: 'SIGTERM' });
    const parent = receiver.spans.find(({ spanId }) => spanId === block.parentSpanId) as Span;
    return { service, receiver, block, parent };
  } finally {
    service.child.kill('SIGKILL');
    receiver.close();
  }
}

test.each(['service.cjs', 'service.mjs'])(
  'one annotation: %s has traces, metrics and blocks, and prints nothing else',
  async (script) => {
    const app = application();
    const { service, receiver, block, parent } = await run(app, [script]);

    expect(service.stdout).toMatch(/^listening \d+\n$/);
    expect(service.stderr).toBe('');
    expect(block.attributes['code.function.name']).toBe('hashAll');
    expect(block.attributes['code.file.path']).toBe(join(app, script));
    expect(parent.name).toBe('GET');
    expect([...receiver.metricNames]).toContain('event_loop.lag');
  },
);

test.each(['1.4.1', '1.10'])(
  'an application with an api %s of its own: spans of the image, in one trace',
  async (version) => {
    const app = application([`@opentelemetry/api@${version}`]);
    const { service, block, parent } = await run(app, ['service.cjs', 'own-api']);

    expect(service.stderr).toBe('');
    expect(block.attributes['code.function.name']).toBe('hashAll');
    // An api that is newer than the one of the image registers nothing and gets nothing.
    expect(parent.name).toBe(version === '1.4.1' ? 'own work' : 'GET');
  },
);

test('packages of the application that would be found first are not loaded', async () => {
  const app = application();
  for (const name of ['sdk-node', 'auto-instrumentations-node', 'api', 'instrumentation']) {
    const broken = join(app, 'node_modules/@opentelemetry', name);
    mkdirSync(broken, { recursive: true });
    writeFileSync(join(broken, 'index.js'), 'throw new Error("loaded");');
  }
  const { service, block } = await run(app, ['service.cjs']);

  expect(service.stderr).toBe('');
  expect(block.attributes['code.function.name']).toBe('hashAll');
});

test('the folder is all that is needed, and everybody may read it', () => {
  const unreadable = execFileSync('find', [mounted, '!', '-perm', '-g+r,o+r', '!', '-type', 'l']);
  expect(unreadable.toString()).toBe('');
  expect(existsSync(join(mounted, 'autoinstrumentation.js'))).toBe(true);
});

test('an image without its packages says so, and the application runs', async () => {
  const broken = join(folder, 'broken');
  mkdirSync(broken);
  cpSync(join(mounted, 'autoinstrumentation.js'), join(broken, 'autoinstrumentation.js'));
  const app = application();
  const service = Service.start(process.execPath, ['service.cjs'], {
    cwd: app,
    env: { NODE_OPTIONS: `--require ${broken}/autoinstrumentation.js` },
  });
  try {
    expect(await (await fetch(await service.listening())).text()).toBe('done');
    expect(service.stderr.split('\n')[0]).toMatch(/cannot start: Cannot find module/);
  } finally {
    await service.ended('SIGKILL');
  }
});
