// Guarantees: what this package, Sentry and Datadog report of the blocks of whole products of
// `real-apps`: found, function, trace, and when the report has left. What is a block is known by a
// timer that came late; what ran in it, by V8's profiler, beside each tool alike.
//
//   npm run bench -- rivals --app strapi --rounds 2 --node /path/to/node24
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readSpans } from '../tools/otlp.cjs';
import { OtlpReceiver } from '../tools/otlp-receiver.cjs';
import { SentryReceiver } from '../tools/sentry-receiver.cjs';
import { median } from '../tools/statistics.cjs';
import { DatadogReceiver, mostFrequent } from './peers/datadog-receiver.mjs';
import { installPeers } from './peers/install.mjs';
import { buildApp, CACHE, installAgent, installApp } from './real-apps/support/install.mjs';
import { verdictOn } from './real-apps/support/judge.mjs';
import { launch, thisPackage } from './real-apps/support/launch.mjs';
import { isFunctionNode, isInApp, sourcePlace } from './real-apps/support/places.mjs';
import { Profile } from './real-apps/support/truth.mjs';

const THRESHOLD_MILLIS = 100;
/** The timer may have been due since 10 ms: such a delay is surely a block. */
const CLEAR_MILLIS = 1.25 * THRESHOLD_MILLIS;
const NEAR_MILLIS = 15;
/** Of an event of Sentry's. */
const SENT_MILLIS = 500;
const PEERS = join(import.meta.dirname, 'peers/package');
const LATE_FILE = join(tmpdir(), `rivals-late-${process.pid}`);

/**
 * @typedef {import('./real-apps/support/places.mjs').Place} Place
 * @typedef {{ from: number, until: number }} Period epoch milliseconds
 * @typedef {Period & { at: number, place?: Place, cause?: string,
 *   kind?: string, traceId?: string }} Report
 *   about a time, and when it came
 */

/** Each gives what a launch needs, and afterwards its reports. */
const TOOLS = {
  async 'this package'(app) {
    const receiver = await OtlpReceiver.listen();
    const ours = thisPackage(app);
    return {
      receiver,
      tool: {
        ...ours,
        env: { ...receiver.env, OTEL_INSTRUMENTATION_EVENT_LOOP_THRESHOLD_MILLIS: '100' },
        lastReports: () => sleep(6000),
      },
      reports: () => receiver.received.flatMap(ownReports),
    };
  },
  async '@sentry/node-native'(app) {
    const receiver = await SentryReceiver.listen();
    return {
      receiver,
      tool: {
        name: 'Sentry',
        preloads: [app.preload ?? '--require', join(PEERS, 'sentry.cjs')],
        env: { SENTRY_DSN: receiver.dsn },
        lastReports: () => sleep(6000),
      },
      reports: (folder, blocks) =>
        receiver
          .eventsOf('EventLoopBlocked')
          .flatMap((event) => sentryReports(event, folder, blocks)),
    };
  },
  async 'dd-trace with profiling'(app) {
    const receiver = await DatadogReceiver.listen();
    const entry = app.preload === '--import' ? 'initialize.mjs' : 'init.js';
    return {
      receiver,
      tool: {
        name: 'dd-trace',
        preloads: [app.preload ?? '--require', join(PEERS, 'node_modules/dd-trace', entry)],
        env: { ...receiver.env, DD_PROFILING_ENABLED: 'true', DD_TRACE_STARTUP_LOGS: 'false' },
        lastReports: () => receiver.until(Date.now()),
      },
      reports: (folder, blocks) => datadogReports(receiver, folder, blocks),
    };
  },
};

/** @type {import('./support/registry.mjs').Bench} */
export default {
  name: 'rivals',
  about: 'what this package, Sentry and Datadog report of the blocks of whole products',
  minutes: 15,
  options: {
    app: { type: 'string', multiple: true, default: ['strapi', 'node-red', 'payload'] },
    only: { type: 'string', multiple: true, default: Object.keys(TOOLS) },
    rounds: { type: 'string', default: '2' },
    keep: { type: 'boolean' },
  },
  async run({ nodes, options, report }) {
    report.versions(installPeers());
    installAgent(options.keep === true);
    for (const { path, version } of nodes) {
      /** @type {Record<string, ReturnType<typeof judge>>} */
      const found = {};
      for (const name of options.app) {
        const app = (await import(`./real-apps/${name}/app.mjs`)).default;
        const folder = installApp(name);
        buildApp(name, path, app.build ?? []);
        for (const tool of options.only) {
          const judged = await run(app, path, folder, TOOLS[tool], Number(options.rounds));
          found[tool] = [...(found[tool] ?? []), ...judged];
        }
      }
      report.table(
        `Node.js ${version}: blocks of ${CLEAR_MILLIS} ms and longer`,
        [
          '',
          'blocks',
          'found',
          'right',
          'near',
          'misled',
          'no name',
          'right trace',
          's until the report came, median',
          'at most',
        ],
        Object.entries(found).map(([tool, blocks]) => row(tool, blocks)),
        found,
      );
    }
  },
};

async function run(app, node, folder, start, rounds) {
  const { receiver, tool, reports } = await start(app);
  rmSync(LATE_FILE, { force: true });
  const { env, preloads } = tool;
  try {
    const launched = await launch(
      app,
      node,
      folder,
      {
        ...tool,
        preloads: [...preloads, '--require', join(CACHE, 'late-timer.cjs')],
        env: { ...env, REAL_APPS_LATE: LATE_FILE },
      },
      rounds,
    );
    return await judge(app, launched, folder, reports);
  } finally {
    receiver.close();
  }
}

async function judge(app, launched, folder, reports) {
  const late = existsSync(LATE_FILE) ? readFileSync(LATE_FILE, 'utf8').trimEnd().split('\n') : [];
  const blocks = late
    .map((line) => JSON.parse(line))
    // Without its CPU a thread is suspended, which is no block.
    .filter(
      ({ from, until, cpuMillis }) =>
        until - from >= CLEAR_MILLIS + NEAR_MILLIS && cpuMillis >= CLEAR_MILLIS,
    )
    .flatMap((block) => {
      const asked = launched.asked.find(
        ({ fromUnix, untilUnix }) => block.until >= fromUnix && block.until < untilUnix,
      );
      return asked === undefined ? [] : [{ ...block, asked }];
    });
  const all = await reports(folder, blocks);
  const profiles = launched.profiles.map((profile) => new Profile(profile, folder));
  const { clock } = launched;
  const toMicros = (unix) => clock.micros + (unix - clock.unix) * 1000;
  const direct = Object.keys(
    JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).dependencies,
  );
  return blocks.map(({ pid, from, until, asked }) => {
    const own = all.filter((each) => each.from < until && each.until > from + NEAR_MILLIS);
    const [first] = own;
    const truth = profiles
      .find((profile) => profile.pid === pid)
      ?.between(toMicros(from), toMicros(until));
    const { place, cause } = first ?? {};
    return {
      app: app.title,
      name: asked.case.name,
      millis: until - from,
      reports: own.length,
      verdict:
        first && verdictOn(place, cause, asked.case.right, truth, direct, app.dispatchers ?? []),
      place,
      cause,
      kinds: own.map(({ kind }) => kind),
      isRightTrace: own.some(({ traceId }) => asked.traceIds.includes(traceId)),
      seconds: first && (Math.min(...own.map(({ at }) => at)) - until) / 1000,
      truth: truth?.describe(),
    };
  });
}

function ownReports({ path, body, at }) {
  if (path !== '/v1/traces') return [];
  return readSpans([JSON.parse(String(body))])
    .filter(({ name }) => name === 'event-loop-blocked')
    .map(({ start, end, traceId, attributes }) => ({
      at,
      from: start,
      until: end,
      traceId,
      cause: attributes['event_loop.block.cause'],
      kind: attributes['event_loop.block.kind'],
      place:
        attributes['code.file.path'] &&
        sourcePlace(
          attributes['code.function.name'] ?? '',
          attributes['code.file.path'],
          attributes['code.line.number'] ?? 0,
          attributes['code.column.number'] ?? 0,
        ),
    }));
}

/**
 * Of the application's own frames, the innermost, as Sentry's page shows it; else of all. It is
 * sent while the block lasts, and has no time.
 */
function sentryReports({ at, exception }, folder, blocks) {
  const block = blocks.findLast(({ from }) => from + NEAR_MILLIS < at);
  if (block === undefined || at > block.until + SENT_MILLIS) return [];
  const { stacktrace } = exception.values.find(({ type }) => type === 'EventLoopBlocked');
  const frames = (stacktrace?.frames ?? [])
    .map(({ function: name = '', filename = '', lineno = 0, colno = 0 }) =>
      sourcePlace(name, filename, lineno, colno),
    )
    .filter(({ file }) => !file.startsWith('node:'));
  const place = frames.findLast(({ file }) => isInApp(file, folder)) ?? frames.at(-1);
  return [{ at, from: block.from, until: block.until, place }];
}

async function datadogReports(receiver, folder, blocks) {
  const samples = await receiver.samples();
  const ends = await receiver.ends();
  return blocks.flatMap(({ from, until }) => {
    const inside = samples.filter(({ at }) => at > from && at <= until);
    if (inside.length === 0) return [];
    const named = inside.map(({ frames }) => {
      const files = frames.filter(({ file }) => file.startsWith('/') || isFunctionNode(file));
      return files.find(({ file }) => isInApp(file, folder)) ?? files[0];
    });
    const key = mostFrequent(named.map((frame) => frame && `${frame.name} ${frame.file}`));
    const frame = named.find((each) => each && `${each.name} ${each.file}` === key);
    const at = ends.find((profile) => profile.until >= until)?.at ?? Number.POSITIVE_INFINITY;
    return [
      { at, from, until, place: frame && sourcePlace(frame.name, frame.file, frame.line, 1) },
    ];
  });
}

function row(tool, blocks) {
  const count = (is) => String(blocks.filter(is).length);
  const seconds = blocks.map((block) => block.seconds).filter((each) => each !== undefined);
  const traces = tool === 'this package' ? count(({ isRightTrace }) => isRightTrace) : '–';
  return [
    tool,
    String(blocks.length),
    count(({ reports }) => reports > 0),
    ...['right', 'near', 'misled', 'none'].map((is) => count(({ verdict }) => verdict === is)),
    traces,
    seconds.length === 0 ? '–' : median(seconds).toFixed(1),
    seconds.length === 0 ? '–' : Math.max(...seconds).toFixed(1),
  ];
}
