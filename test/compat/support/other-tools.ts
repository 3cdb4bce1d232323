/**
 * Other tools that watch the process: each sends to a server of its own on the loopback interface,
 * which counts what the tool is there for.
 */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { unzipSync } from 'node:zlib';
import { HttpReceiver } from '../../../tools/http-receiver.cjs';
import { SentryReceiver } from '../../../tools/sentry-receiver.cjs';
import { startDatadog } from './datadog.ts';
import { KINDS } from './receiver.ts';

export interface OtherTool {
  /** What the app gets of it. */
  env: Record<string, string>;
  /** How often each thing has come, and must have come for thirty blocks. */
  counts(): Record<string, number>;
  least: Record<string, number>;
  close(): void;
}

/** By the names of the subjects. */
export const OTHER_TOOLS: Record<string, (folder: string) => Promise<OtherTool>> = {
  'sentry-anr': startSentry,
  newrelic: startNewRelic,
  'elastic-apm-node': startElastic,
  'dd-trace-profiler': startDatadogProfiler,
  pyroscope: startPyroscope,
};

async function startSentry(): Promise<OtherTool> {
  const receiver = await SentryReceiver.listen();
  const count = (type: string, isWanted: (frame: { vars?: object }) => boolean) =>
    receiver.eventsOf(type).filter(({ exception }) =>
      // biome-ignore lint/suspicious/noExplicitAny: of an event as it was sent
      exception.values[0].stacktrace?.frames.some((frame: any) => {
        return frame.function === 'hashOrders' && isWanted(frame);
      }),
    ).length;
  return {
    env: { SENTRY_DSN: receiver.dsn },
    counts: () => ({
      'ANR events': count('ApplicationNotResponding', () => true),
      'errors with local variables': count('Error', ({ vars = {} }) => 'millis' in vars),
    }),
    // A pause that it asks for during a stack sample is lost.
    least: { 'ANR events': 15, 'errors with local variables': 15 },
    close: () => receiver.close(),
  };
}

async function startElastic(): Promise<OtherTool> {
  const receiver = await new HttpReceiver().start();
  const count = (key: string) =>
    receiver
      .bodies('/intake/v2/events')
      .flatMap((body) => String(body).split('\n'))
      .filter((line) => line.startsWith(`{"${key}":`)).length;
  return {
    env: {
      ELASTIC_APM_SERVER_URL: receiver.url,
      ELASTIC_APM_LOG_LEVEL: 'warning',
      ELASTIC_APM_CENTRAL_CONFIG: 'false',
      // or it asks clouds where it runs
      ELASTIC_APM_CLOUD_PROVIDER: 'none',
    },
    counts: () => ({ transactions: count('transaction'), errors: count('error') }),
    least: { transactions: 30, errors: 30 },
    close: () => receiver.close(),
  };
}

async function startDatadogProfiler(folder: string): Promise<OtherTool> {
  const receiver = await startDatadog(folder);
  return {
    ...receiver,
    env: {
      ...receiver.env,
      DD_PROFILING_UPLOAD_PERIOD: '2',
      DD_INSTRUMENTATION_TELEMETRY_ENABLED: 'false',
      DD_REMOTE_CONFIGURATION_ENABLED: 'false',
    },
    counts: () => ({
      requests: receiver.spans().filter(({ kind }) => KINDS[kind] === 'server').length,
      profiles: receiver.profiles(),
    }),
    least: { requests: 30, profiles: 3 },
  };
}

async function startPyroscope(): Promise<OtherTool> {
  const receiver = await new HttpReceiver().start();
  return {
    env: { PYROSCOPE_SERVER_ADDRESS: receiver.url },
    counts: () => ({ profiles: receiver.bodies('/ingest').length }),
    least: { profiles: 3 },
    close: () => receiver.close(),
  };
}

/** What this collector answers to a method; to all others that it has got it. */
const NEW_RELIC_ANSWERS: Record<string, (port: number) => object> = {
  preconnect: (port) => ({ redirect_host: `127.0.0.1:${port}` }),
  connect: () => ({ agent_run_id: '1' }),
};

async function startNewRelic(folder: string): Promise<OtherTool> {
  const certificate = makeCertificate(path.join(folder, 'certificate'));
  const received: { method: string; body: string }[] = [];
  const server = createServer(certificate, async (request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'https://127.0.0.1');
    const method = String(searchParams.get('method'));
    const sent = await buffer(request);
    const isPlain = [undefined, 'identity'].includes(request.headers['content-encoding']);
    received.push({ method, body: String(isPlain ? sent : unzipSync(sent)) });
    const answer = NEW_RELIC_ANSWERS[method]?.(port) ?? {};
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ return_value: answer }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const count = (method: string) =>
    received.filter((each) => each.method === method).flatMap(({ body }) => JSON.parse(body)[2])
      .length;
  // or it asks clouds where it runs
  const clouds = ['AWS', 'AZURE', 'AZUREFUNCTION', 'GCP', 'PCF', 'DOCKER', 'KUBERNETES'];
  return {
    env: {
      NODE_EXTRA_CA_CERTS: certificate.file,
      NEW_RELIC_APP_NAME: 'compat',
      NEW_RELIC_LICENSE_KEY: '0'.repeat(40),
      NEW_RELIC_HOST: '127.0.0.1',
      NEW_RELIC_PORT: `${port}`,
      NEW_RELIC_LOG_ENABLED: 'false',
      ...Object.fromEntries(
        clouds.map((name) => [`NEW_RELIC_UTILIZATION_DETECT_${name}`, 'false']),
      ),
    },
    counts: () => ({
      transactions: count('analytic_event_data'),
      errors: count('error_event_data'),
    }),
    least: { transactions: 30, errors: 30 },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function makeCertificate(folder: string): { key: string; cert: string; file: string } {
  mkdirSync(folder, { recursive: true });
  const [keyFile, file] = ['key.pem', 'certificate.pem'].map((name) => path.join(folder, name)) as [
    string,
    string,
  ];
  const { status, stderr } = spawnSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost'],
      ...['-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', keyFile, '-out', file],
    ],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`openssl failed\n${stderr}`);
  return { key: readFileSync(keyFile, 'utf8'), cert: readFileSync(file, 'utf8'), file };
}
