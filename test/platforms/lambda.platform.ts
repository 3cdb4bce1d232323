/**
 * The layer for AWS Lambda, in a process that is frozen and thawed as Lambda does it, on each major
 * version of Node.js. What stands in for Lambda and for the OpenTelemetry layer is in apps/lambda.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { npm } from '../../tools/npm.cjs';
import { OtlpReceiver } from '../../tools/otlp-receiver.cjs';
import { installNode } from '../matrix/nodes.mjs';
import { eventually } from './support/eventually.ts';
import { RuntimeApi } from './support/runtime-api.ts';
import { Service } from './support/service.ts';

const ROOT = resolve(__dirname, '../..');
const MAJORS = [20, 22, 24, 26];
const BUILD_MILLIS = 600_000;
const FROZEN_MILLIS = 3000;
/** Far less than it is frozen for; a machine that is not idle has delays of its own. */
const SHORT_MILLIS = 1500;
const STOP_MILLIS = 700;
/** The watchdog thread may be asleep for so long when a stop begins, and a timer for as long. */
const UNNOTED_MILLIS = 300;

interface Histogram {
  readonly count: number;
  readonly sum: number;
  readonly max: number;
}

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'event-loop-lambda-'));
  npm(['run', 'build'], ROOT);
  // Both layers are unpacked into one folder, as Lambda does it.
  execFileSync(process.execPath, [join(ROOT, 'deploy/lambda/build-layer.mjs'), folder]);
  cpSync(join(__dirname, 'apps/lambda'), folder, { recursive: true });
  cpSync(join(ROOT, 'test/support/thread-times.cjs'), join(folder, 'thread-times.cjs'));
  npm(['install', '--prefer-offline'], folder);
}, BUILD_MILLIS);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** An execution environment, from its cold start until `use` has ended. */
async function withFunction(
  major: number,
  use: (parts: { api: RuntimeApi; service: Service; receiver: OtlpReceiver }) => Promise<void>,
): Promise<void> {
  const running = Number.parseInt(process.versions.node, 10);
  const node = major === running ? process.execPath : installNode(major).path;
  const receiver = await OtlpReceiver.listen();
  const api = await RuntimeApi.listen();
  const service = Service.start(
    join(folder, 'event-loop-handler'),
    [node, join(folder, 'bootstrap.cjs')],
    {
      cwd: folder,
      env: {
        ...receiver.env,
        AWS_LAMBDA_RUNTIME_API: api.address,
        LAMBDA_TASK_ROOT: folder,
        _HANDLER: 'handler.handler',
      },
    },
  );
  let isOver = false;
  const endedEarly = service.ended().then((how) => {
    if (!isOver) throw new Error(`it has ended, ${JSON.stringify(how)}: ${service.stderr}`);
  });
  try {
    await Promise.race([use({ api, service, receiver }), endedEarly]);
    isOver = true;
    expect(service.stderr).toBe('');
  } finally {
    isOver = true;
    await service.ended('SIGKILL');
    api.close();
    receiver.close();
  }
}

/** The latest state of a histogram, over all of its attributes or those with this value. */
function latest(receiver: OtlpReceiver, name: string, attribute?: string): Histogram | undefined {
  const points = receiver.metrics.filter(
    (metric) =>
      metric.name === name &&
      (attribute === undefined || Object.values(metric['attributes']).includes(attribute)),
  );
  return points.at(-1)?.['value'] as Histogram | undefined;
}

const stallsOf = (receiver: OtlpReceiver) =>
  receiver.spans.flatMap(({ attributes }) =>
    Object.keys(attributes).filter((key) => key.startsWith('event_loop.stall.')),
  );

describe.each(MAJORS)('on Node.js %d', (major) => {
  test('a block is sent before the process is frozen, as a child of its invocation', async () => {
    await withFunction(major, async ({ api, receiver }) => {
      const block = await eventually('a block that names its function', async () => {
        const before = receiver.named('event-loop-blocked').length;
        expect(await api.invoke({ work: 'block' })).toBe('"block"');
        // All that is sent has come by now: nothing is waited for.
        const blocks = receiver.named('event-loop-blocked');
        expect(blocks.length).toBe(before + 1);
        return blocks.find(({ attributes }) => 'code.line.number' in attributes);
      });
      expect(block.attributes['code.function.name']).toBe('hashAll');
      const parent = receiver.spans.find(({ spanId }) => spanId === block.parentSpanId);
      expect(parent?.name).toBe('checkout');
    });
  });

  test('frozen between two invocations: no block, no lag, no stalled span', async () => {
    await withFunction(major, async ({ api, service, receiver }) => {
      await api.invoke({ work: 'quick' });
      service.child.kill('SIGSTOP');
      await pause(FROZEN_MILLIS);
      // The next invocation is there when it is thawed.
      const answer = api.invoke({ work: 'quick' });
      service.child.kill('SIGCONT');
      await answer;
      await api.invoke({ work: 'quick' });

      expect(receiver.named('checkout')).toHaveLength(3);
      expect(receiver.named('event-loop-blocked')).toEqual([]);
      expect(stallsOf(receiver)).toEqual([]);
      const lag = latest(receiver, 'event_loop.lag');
      expect(lag?.count).toBeGreaterThan(0);
      expect((lag?.max ?? Number.NaN) * 1e3).toBeLessThan(SHORT_MILLIS);
    });
  });

  test('stopped within an invocation: a suspension, and no block', async () => {
    await withFunction(major, async ({ api, service, receiver }) => {
      await api.invoke({ work: 'quick' });
      const answer = api.invoke({ work: 'pieces' });
      await eventually('the function works', async () =>
        service.stdout.includes('working') ? true : undefined,
      );
      service.child.kill('SIGSTOP');
      const stopped = performance.now();
      await pause(STOP_MILLIS);
      const least = performance.now() - stopped;
      service.child.kill('SIGCONT');
      await answer;
      await api.invoke({ work: 'quick' });

      const suspended = latest(receiver, 'event_loop.suspension.duration', 'stopped');
      expect((suspended?.sum ?? 0) * 1e3).toBeGreaterThan(least - UNNOTED_MILLIS);
      expect(receiver.named('event-loop-blocked')).toEqual([]);
      expect(stallsOf(receiver)).toEqual([]);
    });
  });
});
