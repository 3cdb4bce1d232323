// The image of the demo service, made without Docker: what deploy/demo-image/Dockerfile copies and
// runs, in a folder. The service in it exports what blocks its event loop, and the load in it finds
// the service.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { followDockerfile } from '../../tools/dockerfile.mjs';
import { eventually } from '../../tools/harness.cjs';
import { OtlpReceiver } from '../../tools/otlp-receiver.cjs';
import { DATA, ROOT } from './support/stack.mjs';

const BUILD_MILLIS = 600_000;
const ARRIVAL_MILLIS = 60_000;

let folder;
let image;
let receiver;
let service;

beforeAll(async () => {
  mkdirSync(DATA, { recursive: true });
  folder = mkdtempSync(join(DATA, 'image-'));
  image = followDockerfile(ROOT, 'deploy/demo-image/Dockerfile', folder);
  receiver = await OtlpReceiver.listen();
  const { startService } = await import(join(image.workdir, 'tools/demo-service/process.cjs'));
  service = await startService({
    HOST: '127.0.0.1',
    PORT: '0',
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_LOGS_EXPORTER: 'none',
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_BSP_SCHEDULE_DELAY: '200',
  });
}, BUILD_MILLIS);
afterAll(async () => {
  await service?.stop();
  receiver?.close();
  rmSync(folder, { recursive: true, force: true });
});

test('it starts the service with its telemetry', () => {
  expect(image.command).toEqual(['node', '--require', './demo/telemetry.cjs', 'demo/service.cjs']);
});

test('its load makes requests, among them some that block, and the service says so', async () => {
  const load = spawn(process.execPath, ['demo/traffic.mjs', service.url], {
    cwd: image.workdir,
    stdio: 'ignore',
  });
  try {
    const spans = await eventually('blocks and requests are exported', ARRIVAL_MILLIS, async () => {
      const found = receiver.spans;
      const names = new Set(found.map(({ name }) => name));
      return names.has('GET /orders') && names.has('event-loop-blocked') && found;
    });
    const paths = spans.map(({ attributes }) => attributes['code.file.path']);
    expect(paths).toContain(join(image.workdir, 'demo/service.cjs'));
  } finally {
    load.kill();
  }
});
