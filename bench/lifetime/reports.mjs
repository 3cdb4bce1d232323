// Guarantees: how long it takes from the start of a block until the first report of it has left the
// process, with what each tool does by default.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { OtlpReceiver } from '../../tools/otlp-receiver.cjs';
import { SentryReceiver } from '../../tools/sentry-receiver.cjs';
import { median } from '../../tools/statistics.cjs';
import { DatadogReceiver } from '../peers/datadog-receiver.mjs';
import { messageOf } from '../support/child-message.mjs';

const SETTLE_MILLIS = 2000;
/** For one that does not end; this package needs some 5 s. */
const LONGEST_WAIT_MILLIS = 30_000;
const POLL_MILLIS = 5;
/** More than the SDK's delay of 5 s, so that no report is taken for that of the next block. */
const GAP_MILLIS = 9000;
/** So that a block begins at any time of the tool's own interval. */
const RANDOM_GAP_MILLIS = 3000;

/**
 * @typedef {object} Tool
 * @property {number} [gapMillis] between two blocks
 * @property {boolean} [isLate] its reports come when all blocks are over
 */

/** @type {Record<string, Tool>} */
const TOOLS = {
  'this package': {},
  '@sentry/node-native': {},
  // Logs at most 5 blocks a minute.
  '@livekit/agents, event loop monitor': { gapMillis: 12_500 },
  'dd-trace with profiling': { isLate: true },
  blocked: {},
  'blocked-at': {},
};

/** @type {import('../lifetime.mjs').Part} */
export async function measureReports({ path, version, options, report }) {
  const blocks = /** @type {[string, number][]} */ (
    String(options.blocks)
      .split(',')
      .map((each) => each.split('x'))
      .map(([seconds, count]) => [seconds, Number(count)])
  );
  const tools = Object.entries(TOOLS).filter(([name]) => options.tool?.includes(name) ?? true);
  const alone = oneAtATime();
  const results = await Promise.all(
    tools.map(async ([name, tool]) => ({
      name,
      delays: await observe(path, name, tool, blocks, alone),
    })),
  );
  const cell = (/** @type {(number | undefined)[]} */ delays) => {
    const known = delays.filter((delay) => delay !== undefined);
    if (known.length === 0) return 'none';
    const text = `${(median(known) / 1000).toFixed(2)}, ${(Math.max(...known) / 1000).toFixed(2)}`;
    return known.length < delays.length ? `${text} (${known.length} of ${delays.length})` : text;
  };
  report.table(
    `Node.js ${version}: s from the start of a block until its first report has left; median, most`,
    [
      '',
      ...blocks.map(
        ([seconds, count]) => `${seconds === 'never' ? 'endless' : `${seconds} s`} (${count})`,
      ),
    ],
    results.map(({ name, delays }) => [name, ...blocks.map(([seconds]) => cell(delays[seconds]))]),
    results,
  );
}

/** Milliseconds for each block of each length. */
async function observe(
  /** @type {string} */ path,
  /** @type {string} */ name,
  /** @type {Tool} */ tool,
  /** @type {[string, number][]} */ blocks,
  /** @type {ReturnType<typeof oneAtATime>} */ alone,
) {
  /** @type {Record<string, (number | undefined)[]>} */
  const delays = {};
  let started = await start(path, name);
  try {
    for (const [seconds, count] of blocks) {
      const starts = [];
      delays[seconds] = [];
      for (let i = 0; i < count; i++) {
        await sleep((tool.gapMillis ?? GAP_MILLIS) + Math.random() * RANDOM_GAP_MILLIS);
        if (seconds === 'never') {
          delays[seconds].push(await alone(() => started.blockForEver()));
          await started.stop();
          started = await start(path, name);
        } else starts.push(await alone(() => started.block(Number(seconds) * 1000)));
      }
      if (seconds === 'never') continue;
      await sleep(tool.isLate ? 67_000 : GAP_MILLIS);
      const reports = await started.reports();
      delays[seconds] = starts.map((at, i) => {
        const next = starts[i + 1] ?? Number.POSITIVE_INFINITY;
        const first = reports.find(
          (each) => each.at > at && (each.until === undefined ? each.at < next : each.until > at),
        );
        return first && first.at - at;
      });
    }
  } finally {
    await started.stop();
  }
  return delays;
}

async function start(/** @type {string} */ path, /** @type {string} */ name) {
  const [otlp, sentry, datadog] = await Promise.all([
    OtlpReceiver.listen(),
    SentryReceiver.listen(),
    DatadogReceiver.listen(),
  ]);
  const folder = mkdtempSync(join(tmpdir(), 'event-loop-reports-'));
  const file = join(folder, 'start');
  const child = fork(join(import.meta.dirname, 'blocker.cjs'), [name, file], {
    execPath: path,
    stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
    env: {
      ...process.env,
      ...otlp.env,
      ...datadog.env,
      OTEL_TRACES_EXPORTER: 'otlp',
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_LOGS_EXPORTER: 'none',
      DSN: sentry.dsn,
    },
  });
  /** @type {number[]} */
  const printed = [];
  child.stdout?.on('data', (text) => {
    if (/blocked/i.test(String(text))) printed.push(performance.timeOrigin + performance.now());
  });
  await messageOf(child);
  await sleep(SETTLE_MILLIS);
  /** @returns {Promise<{ at: number, until?: number }[]>} */
  const reports = async () => {
    const spans = otlp.received.filter(({ body }) => body.includes('event-loop-blocked'));
    return [
      ...spans.map(({ at }) => ({ at })),
      ...sentry.eventsOf('EventLoopBlocked').map(({ at }) => ({ at })),
      ...printed.map((at) => ({ at })),
      ...(await datadog.ends()),
    ].sort((a, b) => a.at - b.at);
  };
  return {
    reports,
    /** @returns {Promise<number>} when it began */
    async block(/** @type {number} */ millis) {
      child.send(millis);
      await messageOf(child);
      return Number(readFileSync(file, 'utf8'));
    },
    /** @returns {Promise<number | undefined>} milliseconds until it is reported */
    async blockForEver() {
      rmSync(file, { force: true });
      const asked = performance.timeOrigin + performance.now();
      child.send(null);
      for (let waited = 0; waited < LONGEST_WAIT_MILLIS; waited += POLL_MILLIS) {
        await sleep(POLL_MILLIS);
        const first = (await reports()).find(({ at }) => at > asked);
        if (first) return first.at - Number(readFileSync(file, 'utf8'));
      }
      return undefined;
    },
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
      for (const receiver of [otlp, sentry, datadog]) receiver.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** One process blocks at a time: the others, and their threads, need a CPU. */
function oneAtATime() {
  let last = Promise.resolve();
  return (/** @type {() => Promise<any>} */ run) => {
    const result = last.then(run);
    last = result.then(
      () => {},
      () => {},
    );
    return result;
  };
}
