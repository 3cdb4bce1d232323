/**
 * The layer for AWS Lambda, in a process that is frozen and thawed as Lambda does it, on each major
 * version of Node.js. What stands in for Lambda and for the OpenTelemetry layer is in apps/lambda.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../../tools/harness.cjs';
import { npm } from '../../tools/npm.cjs';
import type { Span } from '../../tools/otlp.cjs';
import { OtlpReceiver } from '../../tools/otlp-receiver.cjs';
import { installNode } from '../matrix/nodes.mjs';
import { RuntimeApi } from './support/runtime-api.ts';
import { Service } from './support/service.ts';

const ROOT = resolve(__dirname, '../..');
const MAJORS = [20, 22, 24, 26];
const BUILD_MILLIS = 600_000;
const PATIENCE_MILLIS = 60_000;
const FROZEN_MILLIS = 5000;
/** Less than it is frozen or stopped for; a machine that is not idle has delays of its own. */
const SHORT_MILLIS = 2500;
const STOP_MILLIS = 5000;
/** Had events waited all the time, arrivals every 20 ms would have waited for half of it. */
const LAG_OF_FREEZE_SECONDS = (FROZEN_MILLIS / 20) * (FROZEN_MILLIS / 2 / 1e3);
const STALL_DURATION = 'event_loop.stall.duration';
const STALL_QUEUED = 'event_loop.stall.queued';
/** The watchdog thread may be asleep for so long when a stop begins, and a timer for as long. */
const UNNOTED_MILLIS = 300;

/** As OTLP has it. */
interface Histogram {
  readonly count: number;
  readonly sum: number;
  readonly max: number;
  readonly attributes: readonly { readonly value: { readonly stringValue?: string } }[];
}

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'event-loop-lambda-'));
  execFileSync(process.execPath, [join(ROOT, 'scripts/build.mjs'), '--if-stale']);
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
        // A machine that is not idle makes blocks of 200 ms of CPU time far longer.
        OTEL_INSTRUMENTATION_EVENT_LOOP_UNFINISHED_AFTER_MILLIS: '60000',
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

/** The latest state of a histogram, with this value of an attribute if one is given. */
function latest(receiver: OtlpReceiver, name: string, attribute?: string): Histogram | undefined {
  return receiver.metrics
    .filter((metric) => metric.name === name)
    .flatMap((metric) => (metric['histogram'] as { dataPoints: Histogram[] }).dataPoints)
    .filter(
      ({ attributes }) =>
        attribute === undefined || attributes.some(({ value }) => value.stringValue === attribute),
    )
    .at(-1);
}

/** The longest of the blocks, and of what spans were stalled for, in milliseconds. */
function longest(spans: readonly Span[]): number {
  const blocks = spans.filter(({ name }) => name === 'event-loop-blocked');
  const stalls = spans
    .flatMap(({ attributes }) => Object.entries(attributes))
    .filter(([key]) => key === STALL_DURATION || key === STALL_QUEUED)
    .map(([, seconds]) => Number(seconds) * 1e3);
  return Math.max(0, ...blocks.map(({ seconds }) => seconds * 1e3), ...stalls);
}

/** Invocations until the cold start, which may block, is over. */
async function warmUp(api: RuntimeApi): Promise<void> {
  for (let i = 0; i < 3; i++) await api.invoke({ work: 'quick' });
}

describe.each(MAJORS)('on Node.js %d', (major) => {
  test('a block is sent before the process is frozen, as a child of its invocation', async () => {
    await withFunction(major, async ({ api, receiver }) => {
      await eventually(
        'a block of this very invocation that names its function',
        PATIENCE_MILLIS,
        async () => {
          const before = new Set(receiver.spans.map(({ spanId }) => spanId));
          expect(await api.invoke({ work: 'block' })).toBe('"block"');
          // All that is sent has come by now: nothing is waited for.
          const sent = receiver.spans.filter(({ spanId }) => !before.has(spanId));
          const invocation = sent.find(({ name }) => name === 'checkout');
          const block = sent.find(({ name }) => name === 'event-loop-blocked');
          const isWhole = invocation !== undefined && block?.parentSpanId === invocation.spanId;
          return isWhole && block.attributes['code.function.name'] === 'hashAll' ? true : undefined;
        },
      );
    });
  });

  test('frozen between two invocations: no block, no lag, no stalled span', async () => {
    await withFunction(major, async ({ api, service, receiver }) => {
      await warmUp(api);
      const spansBefore = receiver.spans.length;
      const lagBefore = latest(receiver, 'event_loop.lag')?.sum ?? Number.NaN;
      service.child.kill('SIGSTOP');
      await pause(FROZEN_MILLIS);
      // The next invocation is there when it is thawed.
      const answer = api.invoke({ work: 'quick' });
      service.child.kill('SIGCONT');
      await answer;
      await api.invoke({ work: 'quick' });

      const spans = receiver.spans.slice(spansBefore);
      expect(spans.filter(({ name }) => name === 'checkout')).toHaveLength(2);
      expect(longest(spans)).toBeLessThan(SHORT_MILLIS);
      const lag = (latest(receiver, 'event_loop.lag')?.sum ?? Number.NaN) - lagBefore;
      expect(lag).toBeLessThan(LAG_OF_FREEZE_SECONDS / 2);
    });
  });

  test('stopped within an invocation: a suspension, and no block', async () => {
    await withFunction(major, async ({ api, service, receiver }) => {
      await warmUp(api);
      const spansBefore = receiver.spans.length;
      const answer = api.invoke({ work: 'pieces' });
      await eventually('the function works', PATIENCE_MILLIS, async () =>
        service.stdout.includes('working') ? true : undefined,
      );
      service.child.kill('SIGSTOP');
      const stopped = performance.now();
      await pause(STOP_MILLIS);
      const least = performance.now() - stopped;
      service.child.kill('SIGCONT');
      await answer;

      // Recorded once the watchdog thread has noted it.
      await eventually('it is recorded as suspended', PATIENCE_MILLIS, async () => {
        await api.invoke({ work: 'quick' });
        const suspended = latest(receiver, 'event_loop.suspension.duration', 'stopped');
        return (suspended?.sum ?? 0) * 1e3 > least - UNNOTED_MILLIS ? true : undefined;
      });
      expect(longest(receiver.spans.slice(spansBefore))).toBeLessThan(SHORT_MILLIS);
    });
  });
});
