/** Stalled spans: how long they waited, and for which block. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { Agent, get, request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { unixTime } from '../support/unix-time.cjs';
import {
  expectBlocks,
  expectQuietExit,
  expectSoundBlocks,
  NAME_OF_WORK,
  truthNamed,
} from './support/expect-blocks.ts';
import {
  type AsyncHooksMode,
  appFile,
  type HistogramValue,
  type MetricLine,
  makeFolder,
  type Run,
  runApp,
  type SpanLine,
  sender,
  type Truth,
  wantedModes,
} from './support/run-app.ts';
import { judgeValid, test, VoidMeasurement } from './support/scenario.ts';
import {
  delayInGap,
  judgeUnlessDelayed,
  runDelayOf,
  voidBlock,
  voidTruth,
} from './support/validity.ts';

/** A stall is right to within this, or to within this share of it. */
const STALL_TOLERANCE_MILLIS = 5;
const STALL_TOLERANCE_RATIO = 0.05;
/**
 * More spans are not left out because the thread had no CPU around a block: all are measured again.
 */
const MAX_VOID = 0.1;
/** From here on a span is linked. */
const MIN_LINKED_MILLIS = 10;

/** What Express and Node.js run around a handler. */
const MAX_AROUND_MILLIS = 15;
/** The SDK cuts the start of a span to a whole millisecond, and its end with it. */
const PARENT_CUT_MILLIS = 2;

const PACKAGE = 'opentelemetry-instrumentation-event-loop';
/** Kinds of spans, as they are recorded. */
const SERVER = 1;
const CLIENT = 2;
/** What the machine may take of the figures of a whole run. */
const DELAY_MILLIS = 30;
const isBlock = (span: SpanLine) => span.scope === PACKAGE;

const overlap = (a: Truth | SpanLine, b: Truth | SpanLine) =>
  Math.max(0, Math.min(a.endMillis, b.endMillis) - Math.max(a.startMillis, b.startMillis));

/** Ids of a span and of those around it. */
function ancestry(run: Run, spanId: string | undefined): Set<string> {
  const ids = new Set<string>();
  for (let id = spanId; id !== undefined; ) {
    ids.add(id);
    const current: string = id;
    id = run.spans.find((span) => span.spanId === current)?.parentSpanId;
  }
  return ids;
}

/** On a busy machine, requests pile up of which none blocks by itself. */
const unmeasured = (run: Run, block: SpanLine) =>
  block.attributes['event_loop.block.kind'] === 'pile-up' && runDelayOf(run) > DELAY_MILLIS
    ? 'a pile-up of requests, which the app does not measure'
    : voidBlock(run, block);

/** How long every span was stalled, by what the app measured itself. */
function stallsOf(run: Run) {
  const blockers = run.truths.map((truth) => ({ truth, ids: ancestry(run, truth.spanId) }));
  /**
   * Why what the app measured is not what the package measured, of the blocks that a span overlaps.
   */
  const voids = run.blocks.flatMap((block) => {
    const truth = run.truths.find((each) => overlap(each, block) > 0);
    const reason = truth ? voidTruth(run, truth, [block]) : unmeasured(run, block);
    return reason === undefined ? [] : [{ block, reason }];
  });
  /** What had no CPU for so long that it is no block. */
  const none = run.truths
    .filter((truth) => !run.blocks.some((block) => overlap(truth, block) > 0))
    .flatMap((truth) => {
      const reason = voidTruth(run, truth, []);
      return reason === undefined ? [] : [{ block: truth, reason }];
    });
  const reasons = (span: SpanLine) =>
    [...voids, ...none].find(({ block }) => overlap(block, span) > 0)?.reason;
  const isDelayed = runDelayOf(run) > DELAY_MILLIS;
  /**
   * What Express and Node.js ran around it, in its block, while the span waited: longer on a busy
   * machine.
   */
  const around = (truth: Truth, span: SpanLine) => {
    const block = run.blocks.find((each) => overlap(truth, each) > 0);
    const longer = block === undefined ? 0 : overlap(span, block) - overlap(span, truth);
    return Math.min(MAX_AROUND_MILLIS, Math.max(0, longer));
  };
  /**
   * What Node.js ran in its block before the request's span began: the block's own length has it,
   * its span has not.
   */
  const beforeSpan = (truth: Truth) => {
    const block = run.blocks.find((each) => overlap(truth, each) > 0);
    const seconds = Number(block?.attributes['event_loop.block.duration'] ?? 0);
    const longer = seconds * 1000 - (block?.durationMillis ?? 0);
    return Math.min(MAX_AROUND_MILLIS, Math.max(0, longer));
  };
  return run.spans
    .filter((span) => !isBlock(span))
    .map((span) => {
      const waits = blockers
        .filter(({ ids }) => !ids.has(span.spanId))
        .map(({ truth }) => ({ truth, millis: overlap(span, truth), around: around(truth, span) }))
        .filter(({ millis }) => millis > 0)
        .sort((a, b) => b.millis - a.millis);
      const millis = waits.reduce((sum, wait) => sum + wait.millis, 0);
      const reported = Number(span.attributes['event_loop.stall.duration'] ?? 0) * 1000;
      const most = millis + waits.reduce((sum, wait) => sum + wait.around, 0) + tolerance(millis);
      const before = waits.reduce((sum, { truth }) => sum + beforeSpan(truth), 0);
      const isLongBefore = reported > millis && reported <= millis + before + tolerance(millis);
      const isSlowAround = isDelayed && reported > millis + tolerance(millis) && reported <= most;
      const slowAround = isSlowAround ? 'longer by what ran around its blocks' : undefined;
      return {
        span,
        /** Blocked the event loop itself. */
        isBlocking: blockers.some(({ ids }) => ids.has(span.spanId)),
        millis,
        reported,
        waits,
        blocks: run.blocks.filter((block) => overlap(block, span) > 0),
        voidBecause:
          reasons(span) ?? slowAround ?? (isLongBefore ? 'its block began before' : undefined),
      };
    });
}

type Stalls = ReturnType<typeof stallsOf>;

const tolerance = (millis: number) =>
  Math.max(STALL_TOLERANCE_MILLIS, millis * STALL_TOLERANCE_RATIO);

const describeStall = (stall: Stalls[number]) => ({
  span: `${describeTime(stall.span)}${stall.isBlocking ? ', blocking itself' : ''}`,
  waited: stall.millis.toFixed(1),
  reported: stall.reported.toFixed(1),
  for: stall.waits.map(({ truth, millis }) => `${truth.label}: ${millis.toFixed(1)}`).join(', '),
  blocks: stall.blocks.map(
    (block) => `${describeTime(block)}, ${JSON.stringify(block.attributes)}`,
  ),
});

/** The start, of the minute in which it is. */
const describeTime = ({ name, durationMillis, startMillis }: SpanLine) =>
  `${name}, ${durationMillis.toFixed(1)} ms from ${(startMillis % 60_000).toFixed(1)}`;

/** A block, and what the app measured of the same time. */
const describeBlock = (run: Run, block: SpanLine) => ({
  block: `${block.attributes['event_loop.block.kind']}, ${block.durationMillis.toFixed(1)} ms`,
  named: block.attributes['code.function.name'],
  parent: run.spans.find(({ spanId }) => spanId === block.parentSpanId)?.name,
  work: run.truths
    .filter((truth) => overlap(truth, block) > 0)
    .map(({ label, durationMillis }) => `${label}: ${durationMillis.toFixed(1)}`)
    .join(', '),
});

function expectStalls(stalls: Stalls): void {
  const wrong = stalls.filter(
    ({ millis, reported }) => Math.abs(reported - millis) > tolerance(millis),
  );
  expect(wrong.filter(({ voidBecause }) => voidBecause === undefined).map(describeStall)).toEqual(
    [],
  );
  if (wrong.length > stalls.length * MAX_VOID) {
    throw new VoidMeasurement(
      `${wrong.length} of ${stalls.length} spans: ${wrong[0]?.voidBecause}`,
    );
  }
}

/**
 * Every link leads to the block that its span waited longest for; if two are alike, to either.
 */
function expectLinks(run: Run, stalls: Stalls): void {
  for (const stall of stalls) {
    const { span, waits, voidBecause } = stall;
    // What a span waited for before it began has a link as well.
    const isQueued = span.attributes['event_loop.stall.queued'] !== undefined;
    if (voidBecause !== undefined || isQueued) continue;
    const [longest] = waits;
    if (longest === undefined || longest.millis < MIN_LINKED_MILLIS - STALL_TOLERANCE_MILLIS) {
      expect(span.links).toEqual([]);
      continue;
    }
    if (longest.millis < MIN_LINKED_MILLIS + STALL_TOLERANCE_MILLIS) continue;
    const blockers = waits.filter(({ millis }) => longest.millis - millis <= tolerance(millis));
    expect({ stall: describeStall(stall), links: span.links }).toEqual({
      stall: describeStall(stall),
      links: [
        {
          spanId: expect.any(String),
          traceId: expect.any(String),
          attributes: { 'event_loop.link.type': 'blocked_by' },
        },
      ],
    });
    const linked = run.blocks.find(({ spanId }) => spanId === span.links[0]?.spanId);
    // Where a block began before the span that was active then, it is a child of one around that.
    const isOne = ({ truth }: Stalls[number]['waits'][number]) =>
      linked !== undefined &&
      overlap(truth, linked) > truth.durationMillis / 2 &&
      ancestry(run, truth.spanId).has(linked.parentSpanId ?? '');
    if (blockers.some(isOne)) continue;
    const blocksIn = run.blocks
      .filter((block) => overlap(block, span) > 0)
      .map((block) => describeBlock(run, block));
    expect({
      stall: describeStall(stall),
      linked: linked && describeBlock(run, linked),
      blocksIn,
    }).toBe('linked to the block that it waited longest for');
  }
}

/** The same "random" numbers every time: Lehmer's generator. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/** Each mode with requests of its own. */
const SEEDS = { auto: 20_261_129, always: 20_261_124 };

describe.each(wantedModes('auto', 'always'))('with asyncHooks %s', (asyncHooks) => {
  test('requests at random: every stalled span has what it waited, no blocking span is called stalled', async () => {
    const REQUESTS = 110;
    const BLOCKING_SHARE = 0.1;
    const PAUSE_MILLIS = 40;
    const random = randomNumbers(SEEDS[asyncHooks]);
    const agent = new Agent({ keepAlive: true });
    const run = await runApp('stalled-spans.cjs', { asyncHooks }, async (app) => {
      const port = Number(await app.printed('listening '));
      const send = sender(port, agent);
      await send('/stalled?millis=1');
      const answers: Promise<void>[] = [];
      for (let i = 0; i < REQUESTS; i++) {
        const isBlocking = random() < BLOCKING_SHARE;
        const kind = ['sync', 'timer', 'awaits'][Math.floor(random() * 3)];
        const path = isBlocking
          ? `/${kind}?millis=${120 + Math.floor(random() * 230)}`
          : `/stalled?millis=${Math.floor(random() * 400)}`;
        answers.push(send(path));
        await wait(random() * 2 * PAUSE_MILLIS);
      }
      await Promise.all(answers);
      agent.destroy();
    });

    expectQuietExit(run);
    expectSoundBlocks(run);
    const stalls = stallsOf(run);
    const stalled = stalls.filter(({ millis }) => millis > STALL_TOLERANCE_MILLIS);
    const blockers = stalls.filter(({ isBlocking }) => isBlocking);
    expect(run.truths.length).toBeGreaterThan(0.04 * REQUESTS);
    judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () =>
      expect(stalled.length).toBeGreaterThan(0.4 * REQUESTS),
    );
    expectStalls(stalls);
    expectCaused(run);
    const stalledByItself = blockers.filter(
      ({ millis, reported, voidBecause }) =>
        millis === 0 && reported > STALL_TOLERANCE_MILLIS && voidBecause === undefined,
    );
    expect(stalledByItself.map(describeStall)).toEqual([]);
    expectLinks(run, stalls);
  });

  test('health checks that were under way say how long they were stalled, and by which block', async () => {
    const BLOCK_MILLIS = 400;
    const run = await runApp(
      'hashing-service.cjs',
      { asyncHooks, args: ['stalls'] },
      async (app) => {
        const port = Number(await app.printed('listening '));
        const agent = new Agent({ keepAlive: true });
        const send = sender(port, agent);
        await send('/readiness');
        const probes: Promise<void>[] = [];
        const timer = setInterval(() => probes.push(send('/readiness')), 15);
        await wait(100);
        await send(`/compute-sync?millis=${BLOCK_MILLIS}`);
        clearInterval(timer);
        await Promise.all(probes);
        agent.destroy();
      },
    );

    expectQuietExit(run);
    const [block] = run.blocks;
    expectBlocks(run, [{ truth: run.truths[0]?.label ?? '', kind: 'callback' }]);
    const stalls = stallsOf(run);
    expectStalls(stalls);
    expectLinks(run, stalls);
    const checks = stalls.filter(
      ({ span }) => span.kind === SERVER && span.attributes['http.route'] === '/readiness',
    );
    const stalled = checks.filter(({ reported }) => reported > BLOCK_MILLIS / 2);
    judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () =>
      expect(stalled.length).toBeGreaterThanOrEqual(1),
    );
    expect(block?.attributes['event_loop.block.stalled_spans']).toBeGreaterThanOrEqual(
      stalled.length,
    );
    // The metric has every request, stalled or not.
    const [metric] = run.metrics.filter(({ name }) => name === 'event_loop.stall.duration') as [
      MetricLine,
    ];
    const { count, sum } = metric.value as HistogramValue;
    const entrySpans = stalls.filter(({ span }) => span.kind === SERVER);
    expect(count).toBe(entrySpans.length);
    expect(sum * 1000).toBeCloseTo(
      entrySpans.reduce((total, { reported }) => total + reported, 0),
      3,
    );
  });
});

test('the console says who made whom wait, and what the requests had taken without that', async () => {
  const BLOCK_MILLIS = 400;
  const REQUESTS = 8;
  const env = { OTEL_INSTRUMENTATION_EVENT_LOOP_CONSOLE: 'json' };
  const run = await runApp('stalled-spans.cjs', { asyncHooks: 'auto', env }, async (app) => {
    const port = Number(await app.printed('listening '));
    const send = async (route: string) => (await fetch(`http://127.0.0.1:${port}${route}`)).text();
    await send('/stalled?millis=1');
    const waiting = Array.from({ length: REQUESTS }, () => send('/stalled?millis=150'));
    await wait(100);
    await send(`/sync?millis=${BLOCK_MILLIS}`);
    await Promise.all(waiting);
  });
  const summary = JSON.parse(run.stderr.trim().split('\n').at(-1) ?? '');
  judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () => {
    const [place] = summary.places;
    expect(summary.stalledMillis).toBeCloseTo(stallSumOf(run) * 1000, 3);
    expect(place.stalledRequests).toBe(REQUESTS);
    expect(place.stalledMillis).toBeCloseTo(summary.stalledMillis, 6);
    expect(summary.stalls).toEqual([
      expect.objectContaining({
        functionName: place.functionName,
        route: 'GET /stalled',
        requests: REQUESTS,
        stalledMillis: place.stalledMillis,
      }),
    ]);
    const [route] = summary.routes;
    expect(route).toMatchObject({ route: 'GET /stalled', count: REQUESTS + 1 });
    expect(route.p99Millis).toBeGreaterThan(BLOCK_MILLIS);
    expect(route.withoutStalls.p99Millis).toBeLessThan(BLOCK_MILLIS);
  });
});

test('a recording of /testing says which requests waited for a block', async () => {
  const run = await runApp('recorded-requests.cjs', { asyncHooks: 'auto' });
  const [block] = run.notes['blocks'] as { durationMillis: number }[];
  judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () => {
    expect(block).toMatchObject({ stalledRequests: 4, stalledMillis: expect.any(Number) });
    const { stalledMillis = 0, durationMillis = 0 } = block as Record<string, number>;
    expect(Math.abs(stalledMillis / (4 * durationMillis) - 1)).toBeLessThan(0.1);
    expect(run.notes['message']).toMatch(/: \w+ \(.*\).*, 4 requests waited [\d.]+ s for it\n/);
  });
});

/** Seconds. */
function stallSumOf(run: Run): number {
  const [metric] = run.metrics.filter(({ name }) => name === 'event_loop.stall.duration');
  return (metric as MetricLine & { value: HistogramValue }).value.sum;
}

/**
 * Each stalled millisecond of the metric counts for exactly one function, and so does what requests
 * waited before.
 */
function expectCaused(run: Run): void {
  const caused = run.metrics.filter(({ name }) => name === 'event_loop.stall.caused');
  const sum = caused.reduce((total, { value }) => total + Number(value), 0);
  expect(sum).toBeGreaterThan(0);
  const queuedAtMost = run.spans.reduce(
    (total, { attributes }) => total + Number(attributes['event_loop.stall.queued'] ?? 0),
    0,
  );
  if (queuedAtMost === 0) expect(sum).toBeCloseTo(stallSumOf(run), 6);
  else expect(sum).toBeGreaterThan(stallSumOf(run));
  // The functions that blocked, and the routes of the requests.
  const names = run.metrics
    .filter(({ name }) => name === 'event_loop.block.duration')
    .map(({ attributes }) => attributes['code.function.name']);
  const routes = run.spans.map(({ attributes }) => attributes['http.route']);
  for (const { attributes } of caused) {
    expect(names).toContain(attributes['code.function.name']);
    expect(routes).toContain(attributes['http.route']);
  }
}

/**
 * A request whose body parser and handler block together, while another one waits; then one that
 * blocks in two callbacks.
 */
const runParts = (asyncHooks: AsyncHooksMode, ...args: string[]) =>
  runApp('blocking-in-parts.cjs', { asyncHooks, args }, async (app) => {
    const port = Number(await app.printed('listening '));
    const options = { port, host: '127.0.0.1', agent: new Agent({ keepAlive: true }) };
    const send = (method: string, route: string, body = '') =>
      new Promise<void>((resolve, reject) => {
        const headers = { 'content-type': 'application/json', 'content-length': body.length };
        request({ ...options, path: route, method, headers }, (response) =>
          response.resume().on('end', resolve),
        )
          .on('error', reject)
          .end(body);
      });
    await send('GET', '/stalled');
    const stalled = send('GET', '/stalled');
    await wait(80);
    await send('POST', '/orders', '{"order":1}');
    await stalled;
    await send('GET', '/steps');
    options.agent.destroy();
  });

/** The block of one of these requests, and the spans of its trace. */
function partsOf(run: Run, label: string) {
  const truth = truthNamed(run, label);
  const blocks = run.blocks.filter((each) => overlap(each, truth) > STALL_TOLERANCE_MILLIS);
  judgeValid([
    {
      label: truth.label,
      voidBecause: voidTruth(run, truth, blocks),
      judge: () => expect(blocks).toHaveLength(1),
    },
  ]);
  const [block] = blocks;
  if (block === undefined) throw new VoidMeasurement(`${label}: not long enough`);
  return { truth, block, trace: run.spans.filter(({ traceId }) => traceId === block.traceId) };
}

describe.each(wantedModes('auto', 'always'))('with asyncHooks %s', (asyncHooks) => {
  test('a request that parses its body and then computes did not wait for itself', async () => {
    const run = await runParts(asyncHooks);
    expectQuietExit(run);
    const { truth, block, trace } = partsOf(run, 'body and handler');
    expect(trace.filter(({ kind }) => kind === SERVER).map(({ name }) => name)).toEqual([
      'POST /orders',
    ]);
    for (const { name, attributes, links } of trace) {
      const stall = attributes['event_loop.stall.duration'];
      // A request may have been queued behind a block before, on a busy machine.
      const isQueued = attributes['event_loop.stall.queued'] !== undefined;
      const others = links.filter(({ spanId }) => !isQueued || spanId === block.spanId);
      expect({ name, stall, links: others }).toEqual({ name, stall: undefined, links: [] });
    }
    judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () => {
      // Those of the other request waited for all of it.
      const stalled = run.spans.filter(
        (span) => span.traceId !== block.traceId && overlap(span, block) > block.durationMillis - 1,
      );
      expect(stalled).toHaveLength(2);
      expect(block.attributes['event_loop.block.stalled_spans']).toBe(2);
      for (const { attributes, links } of stalled) {
        const millis = Number(attributes['event_loop.stall.duration']) * 1000;
        expect(Math.abs(millis - truth.durationMillis)).toBeLessThan(
          tolerance(truth.durationMillis) + MAX_AROUND_MILLIS,
        );
        expect(links.map(({ spanId }) => spanId)).toEqual([block.spanId]);
      }
    });
  });
});

describe.each<[AsyncHooksMode, string]>([
  ...wantedModes('auto', 'always').map((mode): [AsyncHooksMode, string] => [
    mode,
    'with a processor',
  ]),
  ['auto', 'alone'],
])('with asyncHooks %s, %s', (asyncHooks, how) => {
  test('a request that blocks in several spans, one after the other: no block outlasts its parent', async () => {
    const run = await runParts(asyncHooks, how);
    expectQuietExit(run);
    for (const [label, name, around, kind] of [
      ['body and handler', 'POST /orders', 'POST /orders', 'callback'],
      ['steps', how === 'alone' ? 'GET /steps' : 'request handler', 'GET /steps', 'pile-up'],
    ] as const) {
      const { block, trace, truth } = partsOf(run, label);
      const parent = trace.find(({ spanId }) => spanId === block.parentSpanId);
      const after = delayInGap(run, block, truth.endMillis, block.endMillis);
      const waited = after + delayInGap(run, block, block.startMillis, truth.startMillis);
      // Of a block that the machine made longer than its span, the one around that is the parent.
      const names = waited > PARENT_CUT_MILLIS ? [name, around] : [name];
      judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () => {
        expect(parent?.name).toMatch(new RegExp(names.join('|')));
        expect({ label, kind: block.attributes['event_loop.block.kind'] }).toEqual({ label, kind });
        expect(block.durationMillis).toBeGreaterThan(truth.durationMillis - STALL_TOLERANCE_MILLIS);
      });
      expect(block.startMillis).toBeGreaterThanOrEqual(parent?.startMillis ?? Number.NaN);
      judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () =>
        expect(block.endMillis - after).toBeLessThan(
          (parent?.endMillis ?? Number.NaN) + PARENT_CUT_MILLIS,
        ),
      );
    }
  });
});

describe('requests that come while the event loop is blocked', () => {
  const BLOCK_MILLIS = 700;
  const REQUESTS = 8;

  test.each(wantedModes('auto', 'always'))(
    'say how long they may have waited, and the block how many they were, with asyncHooks %s',
    async (asyncHooks) => {
      let sentBy = Number.NaN;
      const args = [String(BLOCK_MILLIS)];
      const run = await runApp('queued-requests.cjs', { asyncHooks, args }, async (app) => {
        const port = Number(await app.printed('listening '));
        const agent = new Agent({ keepAlive: true });
        const [send, sendAnew] = [sender(port, agent), sender(port, false)];
        await Promise.all(Array.from({ length: REQUESTS + 1 }, () => send('/ready')));
        await wait(100);
        const report = send('/report');
        await app.printed('blocking');
        const queued = Array.from({ length: REQUESTS }, () => [send('/ready'), sendAnew('/ready')]);
        await wait(50);
        sentBy = unixTime();
        await Promise.all([report, ...queued.flat()]);
        await wait(100);
        await send('/ready');
        agent.destroy();
      });

      expectQuietExit(run);
      const { block } = partsOf(run, 'report');
      if (sentBy > block.endMillis) throw new VoidMeasurement('the requests came too late');
      const after = run.spans
        .filter(({ kind, startMillis }) => kind === SERVER && startMillis > block.startMillis)
        .filter(({ spanId }) => spanId !== block.parentSpanId)
        .sort((a, b) => a.startMillis - b.startMillis);
      expect(after).toHaveLength(2 * REQUESTS + 1);
      judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () => {
        // The last one came when the event loop had waited.
        const late = after.pop();
        expect(late?.attributes['event_loop.stall.queued']).toBeUndefined();
        expect(late?.links).toEqual([]);
        for (const { attributes, links } of after) {
          const millis = Number(attributes['event_loop.stall.queued']) * 1000;
          expect(millis).toBeGreaterThan(block.durationMillis - STALL_TOLERANCE_MILLIS);
          expect(links).toContainEqual({
            traceId: block.traceId,
            spanId: block.spanId,
            attributes: { 'event_loop.link.type': 'blocked_by' },
          });
          // On a busy machine, what runs around it may have blocked the event loop as well.
          const most = run.blocks.reduce((sum, { durationMillis }) => sum + durationMillis, 0);
          expect(millis).toBeLessThan(most + STALL_TOLERANCE_MILLIS);
        }
        expect(block.attributes['event_loop.block.queued_spans']).toBe(2 * REQUESTS);
      });
    },
  );

  test('also for what belongs to no request: a message of a connection that one has opened', async () => {
    const broker = createServer();
    await once(broker.listen(0), 'listening');
    const run = await runApp('queued-requests.cjs', { args: ['300'] }, async (app) => {
      const port = Number(await app.printed('listening '));
      const agent = new Agent({ keepAlive: true });
      const send = sender(port, agent);
      await Promise.all(Array.from({ length: REQUESTS }, () => send('/ready')));
      const connected = once(broker, 'connection');
      await send(`/subscribe/${(broker.address() as AddressInfo).port}`);
      const [socket] = await connected;
      await wait(100);
      socket.write('message');
      await app.printed('blocking');
      await Promise.all(Array.from({ length: REQUESTS }, () => send('/ready')));
      agent.destroy();
      socket.destroy();
    });
    broker.close();

    expectQuietExit(run);
    const { block } = partsOf(run, 'message');
    expect(block.parentSpanId).toBeUndefined();
    judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () => {
      const queued = run.spans.filter(({ attributes }) => attributes['event_loop.stall.queued']);
      expect(queued).toHaveLength(REQUESTS);
      for (const { links } of queued)
        expect(links).toContainEqual(
          expect.objectContaining({ traceId: block.traceId, spanId: block.spanId }),
        );
      expect(block.attributes['event_loop.block.queued_spans']).toBe(REQUESTS);
    });
  });

  /** Of what a client outside waited. */
  const MAX_DIFFERENCE = 0.25;

  test.each([
    ['connections that they have', true],
    ['new connections', false],
  ])('on %s: what a client outside waited is told, by function and route', async (_, isKept) => {
    const millis: number[] = [];
    const run = await runApp('queued-requests.cjs', { args: ['300'] }, async (app) => {
      const port = Number(await app.printed('listening '));
      const agent = isKept && new Agent({ keepAlive: true });
      const send = sender(port, agent);
      for (let i = 0; i < 20; i++) await send('/ready');
      const requests: Promise<unknown>[] = [];
      const timed = async () => {
        const start = performance.now();
        await send('/ready');
        millis.push(performance.now() - start);
      };
      const timer = setInterval(() => requests.push(timed()), 30);
      for (let i = 0; i < 6; i++) {
        await wait(200);
        await send('/report');
      }
      await wait(200);
      clearInterval(timer);
      await Promise.all(requests);
      if (agent) agent.destroy();
    });

    expectQuietExit(run);
    const told = run.metrics
      .filter(({ name }) => name === 'event_loop.stall.caused')
      .filter(({ attributes }) => attributes['http.route'] === '/ready')
      .reduce((sum, { value }) => sum + Number(value) * 1000, 0);
    // At most half of the time the loop was blocked: a quarter of them did not wait at all.
    const usual = [...millis].sort((a, b) => a - b)[Math.floor(millis.length / 4)] ?? 0;
    const waited = millis.reduce((sum, each) => sum + Math.max(0, each - usual), 0);
    judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () => {
      expect(waited).toBeGreaterThan(3000);
      expect(Math.abs(told / waited - 1)).toBeLessThan(MAX_DIFFERENCE);
    });
  });

  test.each(['exit', 'flush', 'shutdown'])(
    'do not keep the block from being reported before a %s',
    async (end) => {
      const run = await runApp(
        'queued-requests.cjs',
        { asyncHooks: 'auto', args: ['200', end] },
        async (app) => {
          const port = Number(await app.printed('listening '));
          const closed = once(app.child, 'close');
          await sender(port, false)('/report').catch(() => {});
          await closed;
        },
      ).catch((error: Error) => error);
      // The app has ended while it was driven, as it was asked to.
      const record = run instanceof Error ? run.message : JSON.stringify(run);
      // An attribute of the span of a block.
      expect(record).toContain('thread.name');
    },
  );
});

test('a query that is stalled by another request says that it was the loop that was slow, not the database', async () => {
  const LIMIT_MILLIS = 400;
  const REPORT_MILLIS = 700;
  const database = spawn(process.execPath, [appFile('support/database.mjs')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  try {
    const port = await new Promise<string>((resolve) => {
      database.stdout.on('data', (text) =>
        resolve(/listening (\d+)/.exec(String(text))?.[1] ?? ''),
      );
    });
    const args = [port, String(LIMIT_MILLIS), String(REPORT_MILLIS)];
    const answers: [number | undefined, string][] = [];
    const run = await runApp('database-service.cjs', { asyncHooks: 'auto', args }, async (app) => {
      const service = Number(await app.printed('listening '));
      const send = (path: string) =>
        new Promise<[number | undefined, string]>((resolve, reject) => {
          get({ port: service, host: '127.0.0.1', path, agent: false }, async (response) => {
            let body = '';
            for await (const chunk of response) body += chunk;
            resolve([response.statusCode, body]);
          }).on('error', reject);
        });
      const transfer = send('/transfer');
      await app.printed('querying');
      const report = send('/report');
      answers.push(await transfer, await report);
    });

    expectQuietExit(run);
    judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () =>
      expect(answers).toEqual([
        [500, 'transaction took too long'],
        [200, 'done'],
      ]),
    );
    expectBlocks(run, [{ truth: run.truths[0]?.label ?? '', kind: 'callback' }]);
    const stalls = stallsOf(run);
    expectStalls(stalls);
    expectLinks(run, stalls);
    const query = stalls.find(({ span }) => span.kind === CLIENT && /UPDATE/.test(span.name));
    expect(query?.span.durationMillis).toBeGreaterThan(LIMIT_MILLIS);
    // Nearly all of it was the loop's fault.
    judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () =>
      expect((query?.reported ?? 0) / (query?.span.durationMillis ?? 1)).toBeGreaterThan(0.9),
    );
    const blocking = run.blocks.find(({ spanId }) => spanId === query?.span.links[0]?.spanId);
    expect(blocking?.traceId).not.toBe(query?.span.traceId);
    expect(blocking?.parentSpanId).toBe(run.truths[0]?.spanId);
  } finally {
    database.kill('SIGKILL');
  }
});

test('starved writes: the responses that are being flushed show what they were stalled', async () => {
  const REQUESTS = 40;
  const SIZE = 27 * 1024 * 1024;
  const folder = makeFolder();
  const socketPath = path.join(folder, 'service.sock');
  let sizes: number[] = [];
  const run = await runApp(
    'starved-writes.cjs',
    { asyncHooks: 'auto', args: [socketPath] },
    async (app) => {
      await app.printed('listening ');
      const agent = new Agent({ keepAlive: true });
      const send = (where: string) =>
        new Promise<number>((resolve, reject) => {
          get({ socketPath, path: where, agent }, async (response) => {
            let size = 0;
            for await (const chunk of response) size += chunk.length;
            resolve(size);
          }).on('error', reject);
        });
      await send('/work');
      const large = [send('/large'), send('/large')];
      const works: Promise<number>[] = [];
      for (let i = 0; i < REQUESTS; i++) {
        works.push(send('/work'));
        await wait(5);
      }
      sizes = await Promise.all(large);
      await Promise.all(works);
      agent.destroy();
    },
  );
  rmSync(folder, { recursive: true });

  expectQuietExit(run);
  expect(sizes).toEqual([SIZE, SIZE]);
  const named = run.blocks.filter(({ attributes }) =>
    NAME_OF_WORK.test(String(attributes['code.function.name'])),
  );
  expect(run.truths.length).toBe(REQUESTS + 1);
  judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () =>
    expect(named.length).toBeGreaterThan(REQUESTS / 2),
  );
  const flushed = stallsOf(run).filter(
    ({ span }) => span.kind === SERVER && span.attributes['http.route'] === '/large',
  );
  expect(flushed).toHaveLength(2);
  for (const { span, millis, reported } of flushed) {
    expect(millis).toBeGreaterThan(100);
    // Reading, parsing and answering those requests blocked the event loop as well, at this
    // threshold.
    judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () =>
      expect(reported).toBeGreaterThan(millis * 0.9),
    );
    expect(reported).toBeLessThanOrEqual(span.durationMillis);
  }
});

test('spans that end before it is known which code blocked, and whether it is ignored: each span of a block ends', async () => {
  const run = await runApp('ignored-blocks.cjs');
  expectQuietExit(run);
  const { started, ended } = run.notes['counts'] as Record<'started' | 'ended', number>;
  expect(started).toBe(run.blocks.length);
  expect(ended).toBe(started);
  judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () => {
    expect(run.truths).toHaveLength(6);
    expect(run.blocks).toHaveLength(3);
    const waiting = run.spans.filter(({ name }) => name.startsWith('waits for other'));
    const linked = waiting.map(({ links }) => links[0]?.spanId);
    expect(linked).toEqual(run.blocks.map(({ spanId }) => spanId));
    // They have no block of their own: the code that ends the first one is not compiled yet.
    const traceIds = waiting.slice(1).map(({ traceId }) => traceId);
    expect(run.blocks.filter(({ traceId }) => traceIds.includes(traceId))).toEqual([]);
    for (const { attributes } of run.blocks)
      expect(attributes).toMatchObject({ 'code.function.name': NAME_OF_WORK });
  });
});

test('requests that await one promise: a block of each, and each waited for the two others', async () => {
  const run = await runApp('shared-promise.cjs');
  expectQuietExit(run);
  const requests = run.spans.filter(({ kind }) => kind === SERVER);
  expect(requests).toHaveLength(3);
  judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () => {
    expect(run.blocks).toHaveLength(3);
    for (const { spanId, attributes, name } of requests) {
      const own = run.blocks.find((each) => each.parentSpanId === spanId);
      expect(overlap(truthNamed(run, name), own as SpanLine)).toBeGreaterThan(150);
      const others = run.blocks.filter((each) => each !== own);
      const millis = others.reduce((sum, { durationMillis }) => sum + durationMillis, 0);
      const told = Number(attributes['event_loop.stall.duration']) * 1000;
      expect(Math.abs(told - millis)).toBeLessThan(STALL_TOLERANCE_MILLIS);
    }
  });
});

test.each([
  ['of a queue', '', 'starts the queue'],
  ['with the span of a message', 'message', 'message'],
])(
  'a job %s blocks: who asked for it did not wait for itself, another one did',
  async (_, way, of) => {
    const run = await runApp('job-queue.cjs', { args: [way] });
    expectQuietExit(run);
    const spanOf = (name: string) => run.spans.find((span) => span.name === name);
    expect(spanOf('asks')?.attributes).not.toHaveProperty(['event_loop.stall.duration']);
    judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () => {
      expect(run.blocks).toHaveLength(1);
      const [block] = run.blocks;
      const id = spanOf(of)?.spanId;
      expect([block?.parentSpanId, ...(block?.links ?? []).map(({ spanId }) => spanId)]).toEqual(
        way === '' ? [undefined, id] : [id],
      );
      expect(spanOf('waits')?.attributes['event_loop.stall.duration']).toBeGreaterThan(0.15);
    });
  },
);

test('what an earlier request made blocks: a link to that, and who asked is no victim', async () => {
  const run = await runApp('made-by-earlier.cjs');
  expectQuietExit(run);
  const spanOf = (name: string) => run.spans.find((span) => span.name === name);
  const first = spanOf('first')?.spanId;
  const blockOf = (label: string) => {
    const truth = truthNamed(run, label);
    return run.blocks.find((each) => overlap(truth, each) > truth.durationMillis / 2);
  };
  const labels = ['answer', 'refresh', 'left behind', 'poll 1', 'poll 2', 'message'];
  for (const block of labels.map(blockOf)) {
    expect(block?.parentSpanId).toBeUndefined();
    expect(block?.links).toEqual([
      expect.objectContaining({
        spanId: first,
        attributes: { 'event_loop.link.type': 'made_by' },
      }),
    ]);
  }
  expect(spanOf('asks')?.attributes).not.toHaveProperty(['event_loop.stall.duration']);
  expect(spanOf('asks')?.links).toEqual([]);

  const queries = blockOf('answer to queries');
  expect(queries).toMatchObject({ parentSpanId: spanOf('call of queries')?.spanId, links: [] });
  expect(spanOf('holds')?.links).toEqual([
    expect.objectContaining({ traceId: queries?.traceId, spanId: queries?.spanId }),
  ]);
  expect(blockOf('answer to publishes')?.parentSpanId).toBeUndefined();
  expect(blockOf('answer to publishes')?.links).toEqual([
    expect.objectContaining({ spanId: spanOf('holds')?.spanId }),
  ]);
  expect(spanOf('publishes')?.attributes).not.toHaveProperty(['event_loop.stall.duration']);
});

test.each([-2000, 2000])(
  'the wall clock is stepped by %d ms: parents and stalls as without',
  async (step) => {
    const run = await runApp('clock-step.cjs', { args: [String(step)] });
    expectQuietExit(run);
    const spanOf = (name: string) => run.spans.find((span) => span.name === name);
    const [blocking, waiting] = [spanOf('blocking'), spanOf('waiting')];
    const [block, ...others] = run.blocks;
    expect(others).toEqual([]);
    expect(block?.parentSpanId).toBe(blocking?.spanId);
    expect(block?.startMillis).toBeGreaterThanOrEqual(Number(blocking?.startMillis));
    expect(block?.endMillis).toBeLessThanOrEqual(Number(blocking?.endMillis));
    const stallMillis = Number(waiting?.attributes['event_loop.stall.duration']) * 1000;
    judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () => {
      expect(stallMillis).toBeGreaterThan(300 - STALL_TOLERANCE_MILLIS);
      expect(Math.abs(stallMillis - Number(block?.durationMillis))).toBeLessThan(
        STALL_TOLERANCE_MILLIS,
      );
    });
  },
);
