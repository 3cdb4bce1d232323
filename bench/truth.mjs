// Guarantees: what each tool reports of the same labelled blockers, in the same service: found,
// missed, counted twice, false positives, the right trace, the right function, the right length;
// see README.md.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../tools/harness.cjs';
import { getJson } from '../tools/http-client.cjs';
import { installOnce, versionIn } from '../tools/install.cjs';
import { SentryReceiver } from '../tools/sentry-receiver.cjs';
import { DatadogReceiver } from './peers/datadog-receiver.mjs';
import subjects from './peers/subjects.cjs';
import { score } from './truth/score.mjs';

const { SUBJECTS } = subjects;
const PEERS = join(import.meta.dirname, 'peers/package');
const APPLICATION = join(import.meta.dirname, 'truth/package');

const THRESHOLD_MILLIS = 40;
/**
 * A blocker that V8 has made so fast since its size was chosen that it is in doubt whether it is
 * one is nobody's mistake.
 */
const CLEAR_MILLIS = 1.25 * THRESHOLD_MILLIS;
/** For a report to come, if the subject does not need longer. */
const SETTLE_MILLIS = 100;
/** So often at most, while the machine holds the process: that says nothing about a tool. */
const MAX_VISITS = 6;
/** Startup is over, and every tool at work. */
const WARM_UP_MILLIS = 1000;
/** The exception that Sentry's SDK makes of a block. */
const SENTRY_BLOCK = 'EventLoopBlocked';
const NAMELESS = new Set(['?', '<anonymous>', '[eval]', '[constructor]']);

/** @type {import('./support/registry.mjs').Bench} */
export default {
  name: 'truth',
  about: 'what each tool reports of the same labelled blockers',
  minutes: 10,
  options: {
    only: { type: 'string', multiple: true },
    blockers: { type: 'string', multiple: true, default: [''] },
  },
  async run({ nodes, options, report }) {
    // Without scripts: what has no binary for this machine in its package is not there.
    for (const folder of [PEERS, APPLICATION]) installOnce(folder, folder, ['--ignore-scripts']);
    const { dependencies } = JSON.parse(readFileSync(join(PEERS, 'package.json'), 'utf8'));
    for (const name of Object.keys(dependencies))
      report.versions({ [name]: versionIn(PEERS, name) });
    const names = options.only ?? Object.keys(SUBJECTS);
    for (const { path, version } of nodes) {
      const results = [];
      for (const name of names) {
        try {
          results.push({ name, ...(await ask(path, name, options.blockers)) });
        } catch (error) {
          // One that does not install or start on this machine must not hide the others.
          report.note(`${name} could not be asked: ${/** @type {Error} */ (error).message}`);
          process.exitCode = 1;
        }
      }
      const blocks = results[0]?.blocks ?? 0;
      for (const { name, disturbed } of results) {
        if (disturbed > 0)
          report.note(`${name}: ${disturbed} visits were disturbed by the machine, and count`);
      }
      report.table(
        `Node.js ${version}: ${blocks} blocks of at least 110 ms, threshold ${THRESHOLD_MILLIS} ms`,
        [
          '',
          'found',
          'missed',
          'twice',
          'false positives',
          'trace',
          'place',
          'length error, ms',
          'all right',
        ],
        results.map((result) => row(result.name, result)),
        results,
      );
      report.table(
        `Node.js ${version}: named by the place to change`,
        ['', ...Object.keys(results[0]?.groups ?? {})],
        results
          .filter(({ name }) => SUBJECTS[name].reports.includes('function'))
          .map(({ name, groups }) => [
            name,
            ...Object.values(groups).map(({ blocks, rightPlace }) => `${rightPlace} of ${blocks}`),
          ]),
      );
    }
  },
};

async function ask(
  /** @type {string} */ path,
  /** @type {string} */ name,
  /** @type {string[]} */ patterns,
) {
  const subject = SUBJECTS[name];
  const receiver = await SentryReceiver.listen();
  const agentOfDatadog = await DatadogReceiver.listen();
  const child = fork(
    join(import.meta.dirname, 'truth/service.cjs'),
    [name, String(THRESHOLD_MILLIS), receiver.dsn, JSON.stringify(patterns)],
    {
      execPath: path,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: { ...process.env, ...agentOfDatadog.env },
    },
  );
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    const { port, blockers, notBlocking } = await messageOf(child);
    const visit = (/** @type {string} */ path) =>
      getJson(`http://127.0.0.1:${port}${path}`, { agent });
    // Cold code is slow code: the first requests count for nobody.
    await visit(`/not-blocking/${encodeURIComponent(notBlocking[0])}`);
    await visit(`/prepare/${encodeURIComponent(blockers[0])}`);
    await visit(`/block/${encodeURIComponent(blockers[0])}`);
    await sleep(WARM_UP_MILLIS);
    const truths = [];
    let disturbed = 0;
    const pages = [
      ...blockers.map((/** @type {string} */ label) => ({ label, isBlock: true, url: 'block' })),
      ...notBlocking.map((/** @type {string} */ label) => ({
        label,
        isBlock: false,
        url: 'not-blocking',
      })),
    ];
    for (const { label, isBlock, url } of pages) {
      if (isBlock) {
        await visit(`/prepare/${encodeURIComponent(label)}`);
        await sleep(subject.settleMillis ?? SETTLE_MILLIS);
      }
      for (let left = MAX_VISITS; left > 0; left--) {
        const from = performance.timeOrigin + performance.now();
        const truth = await visit(`/${url}/${encodeURIComponent(label)}`);
        await sleep(subject.settleMillis ?? SETTLE_MILLIS);
        const until = performance.timeOrigin + performance.now();
        child.send('disturbed?');
        const isDisturbed = await messageOf(child);
        if (isDisturbed && left > 1) continue;
        if (isDisturbed) disturbed++;
        truths.push({ label, isBlock, from, until, ...truth });
        break;
      }
    }
    child.send('reports');
    const reports = await messageOf(child);
    const isClear = (/** @type {any} */ truth) =>
      !truth.isBlock || truth.lengthMillis >= CLEAR_MILLIS;
    return {
      ...score(truths.filter(isClear), [
        ...reports,
        ...receiver.eventsOf(SENTRY_BLOCK).map(reportOf),
        ...(subject.isProfile ? await agentOfDatadog.reportsOf(truths.filter(isClear)) : []),
      ]),
      disturbed,
    };
  } finally {
    agent.destroy();
    if (child.connected) child.disconnect();
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    receiver.close();
    agentOfDatadog.close();
  }
}

/** @returns {import('./truth/score.mjs').Report} */
function reportOf(
  /** @type {import('../tools/sentry-receiver.cjs').SentryEvent} */ { at, exception, contexts },
) {
  const { stacktrace } = exception.values.find(
    (/** @type {any} */ { type }) => type === SENTRY_BLOCK,
  );
  return {
    at,
    functionName: innermost(stacktrace?.frames ?? []),
    traceId: contexts?.trace?.trace_id,
  };
}

/**
 * Of the application's own frames, as Sentry marks them; if there are none, of those that are
 * not Node.js' own. Sentry has the innermost frame last. What has no name is called after the
 * function around it, as a reader would.
 */
function innermost(/** @type {any[]} */ frames) {
  const inApp = frames.filter((frame) => frame.in_app === true);
  const candidates = inApp.length > 0 ? inApp : frames;
  const own = candidates
    .filter(({ filename = '' }) => !filename.startsWith('node:'))
    .map((frame) => frame.function);
  return own.findLast((name) => name !== undefined && !NAMELESS.has(name)) ?? own.at(-1);
}

function row(/** @type {string} */ name, /** @type {ReturnType<typeof score>} */ result) {
  const { reports: kinds } = SUBJECTS[name];
  const when = (
    /** @type {(typeof kinds)[number]} */ what,
    /** @type {string | number} */ value,
  ) => (kinds.includes(what) ? String(value) : '–');
  const { lengthError } = result;
  const error =
    lengthError && `${lengthError.median.toFixed(1)}, at most ${lengthError.most.toFixed(0)}`;
  return [
    name,
    when('block', result.found),
    when('block', result.missed),
    when('block', result.reportedTwice),
    when('block', result.falsePositives),
    when('trace', result.rightTrace),
    when('function', result.rightPlace),
    when('length', error ?? '–'),
    kinds.length === 4 ? String(result.allRight) : '–',
  ];
}
