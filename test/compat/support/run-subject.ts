/**
 * Runs one subject: its service as a process of its own, two requests that block, and what it sent
 * about them.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { BLOCK_SPAN, type Span } from '../../../tools/otlp.cjs';
import { type Run, runApp, type SpanLine } from '../../scenarios/support/run-app.ts';
import { unixTime } from '../../support/unix-time.cjs';
import { startDatadog } from './datadog.ts';
import { startOtlp } from './otlp.ts';
import type { Receiver } from './receiver.ts';
import type { Selected } from './selection.ts';
import { startSentry } from './sentry.ts';

/** The watchdog thread starts once the loop turns: some 50 ms on an idle machine. */
const WATCHDOG_START_MILLIS = 500;
const WARM_REQUESTS = 5;
const BLOCKING_REQUESTS = ['handler', 'steps'];
/** Beside a preloaded SDK, an ES module is watched from the second second on. */
const PRELOAD_START_MILLIS = 2000;
/** What a preloaded SDK has until it has sent all, if the application cannot flush it. */
const ARRIVAL_MILLIS = 10_000;
const ARRIVAL_POLL_MILLIS = 50;

const RECEIVERS = { otlp: startOtlp, sentry: startSentry, datadog: startDatadog };

export async function runSubject(choice: Selected): Promise<Run> {
  const { subject, folder, node, problem } = choice;
  if (problem !== undefined) throw new Error(problem);
  if (subject.build) build(subject.build, folder, node);
  const receiver = await RECEIVERS[subject.wire ?? 'otlp'](folder);
  const answersAlone = subject.compared ? await answersWithoutPackage(choice) : [];
  const answers: string[] = [];
  let warmAt = Number.NaN;
  const startMillis = subject.preload ? PRELOAD_START_MILLIS : WATCHDOG_START_MILLIS;
  try {
    const run = await runApp(
      subject.name,
      {
        node,
        nodeArgs: subject.nodeArgs ?? [],
        file: path.join(folder, 'app', subject.app),
        cwd: path.join(folder, 'app'),
        // as its users would start it: with the package's defaults
        asyncHooks: 'auto',
        env: { ...receiver.env, OTEL_SERVICE_NAME: subject.name, ...subject.env },
      },
      async (app) => {
        const port = await app.printed('listening ');
        const send = async (request: string) => {
          const query = subject.graphql ? `?query={${request}}` : '';
          // Not by `node:http` of this process: over its kept connection @sentry/node 11.12 drops
          // the span of the second block.
          const response = await fetch(`http://127.0.0.1:${port}/${request}${query}`, {
            // or a GraphQL server would take it for one that any web page can make
            headers: { 'content-type': 'application/json' },
          });
          const text = await response.text();
          if (!response.ok) throw new Error(`/${request}: ${response.status} ${text}`);
          answers.push(text);
        };
        // the first request of a process is slow, and that is the framework's own time
        for (let i = 0; i < WARM_REQUESTS; i++) {
          await send('warm');
          // not as fast as can be: Sentry drops what it cannot send at once
          await wait(startMillis / WARM_REQUESTS);
        }
        warmAt = unixTime();
        for (const request of BLOCKING_REQUESTS) await send(request);
        if (subject.preload) await arrival(receiver, warmAt, subject.metrics === true);
      },
    );
    run.notes['metricNames'] = [...(receiver.metricNames?.() ?? [])];
    run.notes['answers'] = [...new Set(answers.map(withoutNumbers))];
    run.notes['answersAlone'] = answersAlone;
    addSpans(run, receiver.spans(), warmAt);
    return run;
  } finally {
    receiver.close();
  }
}

/** What the service answers to each of the requests where nothing is preloaded. */
async function answersWithoutPackage({ subject, folder, node }: Selected): Promise<string[]> {
  const answers: string[] = [];
  const cwd = path.join(folder, 'app');
  const file = path.join(cwd, subject.app);
  await runApp(`${subject.name}, alone`, { node, file, cwd }, async (app) => {
    const port = await app.printed('listening ');
    for (const request of ['warm', ...BLOCKING_REQUESTS]) {
      answers.push(await (await fetch(`http://127.0.0.1:${port}/${request}`)).text());
    }
  });
  return [...new Set(answers.map(withoutNumbers))];
}

/** Hashes are other ones each time. */
const withoutNumbers = (answer: string) => answer.replace(/-?\d+/g, '#');

/**
 * Both blocks, and metrics if there are some. What has not come by then is missed by the tests.
 */
async function arrival(receiver: Receiver, warmAt: number, metrics: boolean): Promise<void> {
  const giveUpAt = performance.now() + ARRIVAL_MILLIS;
  const isComplete = () =>
    receiver.spans().filter(({ name, start }) => name === BLOCK_SPAN && start >= warmAt).length >=
      2 &&
    (!metrics || receiver.metricNames?.().has('event_loop.block.duration'));
  while (!isComplete() && performance.now() < giveUpAt) await wait(ARRIVAL_POLL_MILLIS);
}

function build(script: string, folder: string, node: string): void {
  const { status, stderr } = spawnSync(node, [script], {
    cwd: path.join(folder, 'app'),
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${script} failed\n${stderr}`);
}

/** What the app exported joins what it wrote down itself. */
function addSpans(run: Run, spans: Span[], warmAt: number): void {
  // one process, whose main thread is the only one that reports
  const { pid = 0, thread = 0 } = run.truths[0] ?? {};
  run.spans = spans.map(
    ({ start, end, seconds, resource, parentSpanId, links, kind, ...span }): SpanLine => ({
      ...span,
      kind: kind - 1, // OTLP counts from 1
      ...(parentSpanId !== undefined && { parentSpanId }),
      pid,
      thread,
      startMillis: start,
      endMillis: end,
      durationMillis: end - start,
      links: links.map((link) => ({ ...link, attributes: {} })),
      status: { code: 0 },
    }),
  );
  run.blocks = run.spans
    .filter((span) => span.name === BLOCK_SPAN)
    // what starting up and the first requests took is not what is tested here
    .filter((span) => span.startMillis >= warmAt)
    .map((block) => ({ ...block, attributes: ownAttributes(block) }))
    .sort((a, b) => a.startMillis - b.startMillis);
}

/** Without what some products add to every span. */
function ownAttributes({ attributes }: SpanLine): SpanLine['attributes'] {
  return Object.fromEntries(
    Object.entries(attributes).filter(([key]) => /^(event_loop|code|thread)\./.test(key)),
  );
}

/**
 * Where a function stands that blocks, in the file that is to be reported: the source, or the
 * bundle if nothing maps it back.
 */
export function blockingFunction(
  name: string,
  { subject, folder }: Selected,
  reported: string,
): { file: string; firstLine: number; lastLine: number } {
  const place = path.join(folder, 'app', subject.reported ?? 'support/work.cjs');
  // a bundler that names its files itself
  const file = path.dirname(reported) === place ? reported : place;
  const lines = readFileSync(file, 'utf8').split('\n');
  // minified code has a few endless lines
  if (subject.minified) return { file, firstLine: 1, lastLine: lines.length };
  const first = lines.findIndex((line) => line.includes(`function ${name}(`));
  if (first < 0) throw new Error(`no function ${name} in ${file}`);
  const [indent] = /^\s*/.exec(lines[first] as string) as RegExpExecArray;
  const last = lines.findIndex((line, i) => i > first && line.startsWith(`${indent}}`));
  return { file, firstLine: first + 1, lastLine: last + 1 };
}
