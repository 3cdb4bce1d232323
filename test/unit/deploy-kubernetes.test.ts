/** The Deployment of deploy/kubernetes/ asks what the package serves. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { resolveConfig } from '../../src/config.ts';

interface Probe {
  httpGet: { path: string; port: string };
  periodSeconds: number;
  timeoutSeconds?: number;
}
interface Container {
  env: { name: string; value: string }[];
  ports: { name: string; containerPort: number }[];
  startupProbe: Probe;
  livenessProbe: Probe;
  readinessProbe: Probe;
}

const file = join(__dirname, '../../deploy/kubernetes/deployment.yaml');
const deployment = parse(readFileSync(file, 'utf8'));
const [container] = deployment.spec.template.spec.containers as [Container];
const env = Object.fromEntries(container.env.map(({ name, value }) => [name, value]));
const warnings: string[] = [];
const { healthServer } = resolveConfig({}, env, (message) => warnings.push(message));
const portOf = (probe: Probe) =>
  container.ports.find(({ name }) => name === probe.httpGet.port)?.containerPort;

test('its variables are options of the package', () => {
  const names = Object.keys(env).filter((name) => name.startsWith('OTEL_'));
  expect(names).toHaveLength(4);
  expect(warnings).toEqual([]);
  // Each changes something: a name that is misspelt would not.
  expect(healthServer).toEqual({
    port: 13134,
    host: '0.0.0.0',
    failAfterMillis: 60_000,
    maxBlockedMillis: 600_000,
    details: false,
  });
});

test('liveness is asked of the health server, everything else of the application', () => {
  const { livenessProbe, readinessProbe, startupProbe } = container;
  expect([portOf(livenessProbe), livenessProbe.httpGet.path]).toEqual([
    healthServer?.port,
    '/livez',
  ]);
  for (const probe of [readinessProbe, startupProbe]) {
    expect(portOf(probe)).toBeDefined();
    expect(portOf(probe)).not.toBe(healthServer?.port);
  }
  // The first answer of a block takes 0.1 s.
  expect(livenessProbe.timeoutSeconds).toBeGreaterThanOrEqual(1);
});

test('the Service selects what the Deployment makes', () => {
  expect(deployment.spec.selector.matchLabels).toEqual(deployment.spec.template.metadata.labels);
});
