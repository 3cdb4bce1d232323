/** The manifests of deploy/kubernetes/ agree with each other, and ask what the package serves. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { resolveConfig } from '../../src/config.ts';

interface Probe {
  httpGet: { path: string; port: string };
  periodSeconds: number;
  timeoutSeconds: number;
  failureThreshold: number;
}
interface Container {
  env: { name: string; value: string }[];
  ports: { name: string; containerPort: number }[];
  startupProbe: Probe;
  livenessProbe: Probe;
  readinessProbe: Probe;
  securityContext: object;
  resources: { limits: object };
}

const file = join(__dirname, '../../deploy/kubernetes/deployment.yaml');
const [deployment, budget] = parseAllDocuments(readFileSync(file, 'utf8')).map((one) => one.toJS());
const pod = deployment.spec.template.spec;
const container: Container = pod.containers[0];
const env = Object.fromEntries(container.env.map(({ name, value }) => [name, value]));

test('its variables are options of the package', () => {
  const names = Object.keys(env).filter((name) => name.includes('EVENT_LOOP'));
  const warnings: string[] = [];
  const { healthServer } = resolveConfig({}, env, (message) => warnings.push(message));
  expect(names).toHaveLength(3);
  expect(warnings).toEqual([]);
  // Each changes something: a name that is misspelt would not.
  expect(healthServer).toEqual({
    port: 13134,
    host: '0.0.0.0',
    failAfterMillis: 60_000,
    maxBlockedMillis: 600_000,
  });
});

test('the probes agree: liveness is asked of the health server, and comes last', () => {
  const { startupProbe, readinessProbe, livenessProbe } = container;
  const portOf = ({ httpGet }: Probe) =>
    container.ports.find(({ name }) => name === httpGet.port)?.containerPort;
  const seconds = ({ periodSeconds, failureThreshold }: Probe) => periodSeconds * failureThreshold;
  expect([portOf(livenessProbe), livenessProbe.httpGet.path]).toEqual([13134, '/livez']);
  for (const probe of [readinessProbe, startupProbe]) expect(portOf(probe)).toBe(3000);
  // The first answer of a block takes 0.1 s.
  expect(livenessProbe.timeoutSeconds).toBeGreaterThanOrEqual(1);
  expect(seconds(readinessProbe)).toBeLessThan(seconds(livenessProbe));
  expect(seconds(startupProbe)).toBeGreaterThanOrEqual(30);
});

test('it runs without rights, and is told from others', () => {
  expect(pod.securityContext).toMatchObject({
    runAsNonRoot: true,
    seccompProfile: { type: 'RuntimeDefault' },
  });
  expect(container.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    privileged: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
  expect(container.resources.limits).toHaveProperty('memory');
  expect(env['OTEL_RESOURCE_ATTRIBUTES']).toMatch(/^service\.instance\.id=\$\(POD_NAME\),/);
});

test('Deployment and budget select the same pods', () => {
  const { labels } = deployment.spec.template.metadata;
  expect(deployment.spec.selector.matchLabels).toEqual(labels);
  expect(budget.spec.selector.matchLabels).toEqual(labels);
});
