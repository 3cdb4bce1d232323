import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import type { RequestMessage } from '../../src/channels.ts';
import { PLAIN } from '../../src/core/emit/block-line.ts';
import { SHOWN, summaryLines } from '../../src/outputs/console/summary-lines.ts';
import { ADVICE } from '../../src/outputs/summary/advice.ts';
import { Durations } from '../../src/outputs/summary/durations.ts';
import { blockJson, summaryJson } from '../../src/outputs/summary/json.ts';
import { functionKeyOf } from '../../src/outputs/summary/requests.ts';
import { Summary, type SummaryTimes } from '../../src/outputs/summary/summary.ts';
import type { BlockCause, EventLoopBlock } from '../../src/types.ts';
import { functionWait, requestMessage } from './support/request-message.ts';
import { WHOLE_BLOCK } from './support/whole-block.ts';

const block = (
  durationMillis: number,
  functionName?: string,
  line = 1,
  more: Partial<EventLoopBlock> = {},
): EventLoopBlock => ({
  startTimeMillis: 0,
  durationMillis,
  callbacks: 1,
  samples: 1,
  ...(functionName !== undefined && {
    code: { functionName, file: '/app/report.js', line, column: 1, stackTrace: '' },
  }),
  ...more,
});

const TEN_SECONDS: SummaryTimes = { startedAt: 0, now: 10_000 };

function read(
  blocks: readonly EventLoopBlock[],
  times: SummaryTimes = TEN_SECONDS,
  maxPlaces?: number,
) {
  const summary = new Summary();
  for (const b of blocks) summary.add(b, times.listeningSince);
  return summary.read(times, maxPlaces);
}

const linesOf = (...blocks: EventLoopBlock[]) =>
  summaryLines(read(blocks, TEN_SECONDS, SHOWN), '/app', PLAIN, 100);
const schema = JSON.parse(readFileSync(join(__dirname, '../../console.schema.json'), 'utf8'));
const validate = new Ajv2020({ strict: true, allErrors: true }).compile(schema);
const errorsOf = (value: unknown) => {
  validate(JSON.parse(JSON.stringify(value)));
  return validate.errors ?? [];
};

test('shows ten functions, and what all others add up to', () => {
  const lines = linesOf(...Array.from({ length: 30 }, (_, i) => block(100 + i, `f${i}`)));
  expect(lines).toHaveLength(12);
  expect(lines[1]).toContain('f29');
  expect(lines[11]).toBe(
    '    2.19 s ( 22 %) in 20 blocks, longest 119 ms: other functions'.slice(2),
  );
});

test('a thousand functions are kept apart, a hundred are given, the others are one', () => {
  const blocks = Array.from({ length: 1500 }, (_, i) => block(100, `f${i}`));
  const { places, otherPlaces, blocks: all } = read(blocks);
  expect(all).toBe(1500);
  expect(places).toHaveLength(100);
  expect(otherPlaces).toMatchObject({ blocks: 1400, totalMillis: 140_000, longestMillis: 100 });
});

test('a place has no cause if that of most of its time is not known', () => {
  const causeOf = (...causes: (BlockCause | undefined)[]) => {
    const summary = new Summary();
    for (const cause of causes) summary.add(block(100, 'a', 1, cause && { cause }));
    return summary.read({ startedAt: 0, now: 9000 }).places[0]?.cause;
  };
  expect(causeOf(undefined, undefined, 'native')).toBeUndefined();
  expect(causeOf(undefined, 'gc', 'native', 'native')).toBe('native');
});

test('the cause is what took most of the blocks of a place; JavaScript is not mentioned', () => {
  const lines = linesOf(
    block(100, 'a', 1, { cause: 'javascript' }),
    block(400, 'a', 1, { cause: 'native' }),
    block(300, 'b', 1, { cause: 'gc', gcTimeMillis: 270 }),
    block(200, 'c', 1, { cause: 'waiting' }),
    block(100, 'd', 1, { cause: 'javascript' }),
  );
  expect(lines.slice(1).map((line) => line.split(': ')[1])).toEqual([
    'a (report.js:1:1), native',
    'b (report.js:1:1), GC 90 %',
    'c (report.js:1:1), waiting',
    'd (report.js:1:1)',
  ]);
});

describe('requests', () => {
  const CODE = { file: '/app/report.js', line: 1, column: 1 };
  const request = (
    durationMillis: number,
    waits: readonly (readonly [string | undefined, number])[] = [],
    more: Partial<RequestMessage> = {},
  ): RequestMessage =>
    requestMessage({
      durationMillis,
      stalledMillis: waits.reduce((sum, [, millis]) => sum + millis, 0),
      functions: waits.map(([functionName, stalledMillis]) =>
        functionWait({ ...placeOf(functionName), stalledMillis }),
      ),
      ...more,
    });
  /** As that of a block. */
  const placeOf = (functionName: string | undefined) => {
    const code = functionName === undefined ? undefined : { ...CODE, functionName };
    return { key: functionKeyOf(code), ...(code && { code }) };
  };
  const summaryOf = (
    blocks: readonly EventLoopBlock[],
    requests: readonly RequestMessage[],
    times: SummaryTimes = TEN_SECONDS,
  ) => {
    const summary = new Summary();
    for (const b of blocks) summary.add(b, times.listeningSince);
    for (const each of requests) summary.addRequest(each, times.listeningSince);
    return summary.read(times);
  };

  test('that arrived during a block count, and waited', () => {
    const queued = (millis: number, functionName: string): Partial<RequestMessage> => ({
      queuedMillis: millis,
      functions: [functionWait({ ...placeOf(functionName), queuedMillis: millis })],
    });
    const requests = [
      request(1, [], queued(250, 'report')),
      request(1, [], { ...queued(250, 'report'), route: 'GET /health' }),
      request(5),
    ];
    const summary = summaryOf([block(900, 'other'), block(500, 'report')], requests);
    expect(summary).toMatchObject({ stalledRequests: 0, queuedRequests: 2, queuedMillis: 500 });
    expect(summary.places[0]).toMatchObject({ functionName: 'report', queuedMillis: 500 });
    expect(
      summary.routes?.map((route) => [route.queuedRequests, route.withQueue.maxMillis]),
    ).toEqual([
      [1, 251],
      [1, 251],
    ]);
    const lines = summaryLines(summary, '/app', PLAIN, 100);
    expect(lines[1]).toMatch(/report .*, 2 requests waited 500 ms for it$/);
    expect(lines).toContain(
      '  GET /health: 1 of 1, p50 251 ms (1.0 ms), p99 251 ms (1.0 ms), longest 251 ms (1.0 ms)',
    );
    expect(errorsOf(summaryJson(summary))).toEqual([]);
  });

  test('if nothing blocked, all of them say how long they took', () => {
    const lines = summaryLines(summaryOf([], [request(12), request(4)]), '/app', PLAIN, 50);
    expect(lines).toEqual([
      'event-loop-blocked: no block of 50 ms or longer in 10.0 s',
      'requests, none of which waited for the event loop:',
      '  GET /list: 2, p50 4.0 ms, p99 12 ms, longest 12 ms',
    ]);
  });

  test('routes past ten are one row, with the times of all of them', () => {
    const requests = Array.from({ length: 30 }, (_, i) =>
      request(100 - i, [['f', 50 - i]], { route: `GET /${i}` }),
    );
    const summary = new Summary();
    for (const each of requests) summary.addRequest(each);
    const lines = summaryLines(summary.read(TEN_SECONDS, SHOWN), '/app', PLAIN, 50);
    expect(lines.at(-2)).toMatch(/^ {2}GET \/9: 1 of 1, /);
    expect(lines.at(-1)).toBe(
      '  other routes: 20 of 20, p50 80 ms (50 ms), p99 90 ms (50 ms), longest 90 ms (50 ms)',
    );
    expect(lines.filter((line) => line.includes(' of 1, '))).toHaveLength(SHOWN);
  });

  test('of a period without any, nothing is said', () => {
    const summary = summaryOf([block(100, 'f')], []);
    expect(summary).not.toHaveProperty('routes');
    expect(summary).not.toHaveProperty('stalledRequests');
    expect(summary.places[0]).not.toHaveProperty('stalledMillis');
  });

  test('are bounded: routes, functions and pairs, and nothing is lost', () => {
    const requests = Array.from({ length: 2000 }, (_, i) =>
      request(100, [[`f${i}`, 10]], { route: `GET /${i}` }),
    );
    const summary = summaryOf([], requests);
    expect(summary.routes).toHaveLength(100);
    expect(summary.otherRoutes).toMatchObject({ count: 1900, stalledMillis: 19_000 });
    expect(summary.stalls).toHaveLength(100);
    expect(summary.otherStalls).toEqual({
      requests: 1900,
      stalledMillis: 19_000,
      queuedMillis: 0,
    });
    expect(summary.stalledMillis).toBe(20_000);
    expect(errorsOf(summaryJson(summary))).toEqual([]);
  });

  test('as JSON that the schema describes', () => {
    const requests = [request(400, [['light', 298]]), request(30, [[undefined, 5]])];
    const json = summaryJson(summaryOf([block(298, 'light')], requests));
    expect(errorsOf(json)).toEqual([]);
    expect(json.stalls).toMatchObject([{ functionName: 'light' }, { stalledMillis: 5 }]);
  });
});

test('quantiles of durations are at most 1 % off, the longest is exact', () => {
  const millis = fc.double({ min: 0.01, max: 1e6, noNaN: true });
  const property = fc.property(fc.array(millis, { minLength: 1, size: '+1' }), (all) => {
    const durations = new Durations();
    for (const each of all) durations.add(each);
    const sorted = [...all].sort((a, b) => a - b);
    for (const share of [0.5, 0.99, 1]) {
      const exact = sorted[Math.ceil(share * all.length) - 1] as number;
      expect(Math.abs(durations.quantile(share) / exact - 1)).toBeLessThan(0.01);
    }
    expect(durations.max).toBe(sorted.at(-1));
  });
  fc.assert(property);
});

describe('start-up', () => {
  const STARTED = [
    block(500, 'load', 1, { startTimeMillis: 1000 }),
    block(200, 'serve', 1, { startTimeMillis: 2000 }),
  ];
  const LISTENING = { startedAt: 0, now: 6000, listeningSince: 2000, loadMillis: 800 };

  test('what began before a server listened is kept apart', () => {
    expect(summaryLines(read(STARTED, LISTENING), '/app', PLAIN, 100)).toEqual([
      'event-loop-blocked: 1 block, 200 ms of 4.00 s (5.0 %)',
      '  200 ms (5.0 %) in 1 block, longest 200 ms: serve (report.js:1:1)',
      'at start-up: 800 ms until the event loop first turned; ' +
        '1 block, 500 ms of 2.00 s (25 %) until a server listened',
      '  500 ms (25 %) in 1 block, longest 500 ms: load (report.js:1:1)',
    ]);
  });
});

describe('a thread that lacked a CPU', () => {
  const last = (runDelayMillis: number) => {
    const summary = read([block(200, 'serve')], { ...TEN_SECONDS, runDelayMillis });
    return summaryLines(summary, '/app', PLAIN, 100).at(-1);
  };

  test('is said from a twentieth of the time on', () => {
    expect(last(500)).toBe('not the application: the thread waited 500 ms (5.0 %) for a CPU');
    expect(last(499)).toMatch(/serve/);
    expect(last(Number.NaN)).toMatch(/serve/);
  });
});

describe('the advice', () => {
  const adviceOf = (more: Partial<EventLoopBlock>) => blockJson(block(100, 'f', 1, more)).advice;

  test.each<[keyof typeof ADVICE, Partial<EventLoopBlock>]>([
    ['parse', { nativeCall: { name: 'JSON.parse', size: 1 } }],
    ['regExp', { nativeCall: { name: 'RegExp#test' } }],
    ['native', { nativeCall: { name: 'String#normalize', size: 1 } }],
    ['sync', { nativeCall: { name: 'fs.readFileSync', size: 1 }, cause: 'waiting' }],
    ['sync', { nativeCall: { name: 'crypto.randomBytes', size: 1 } }],
    ['clone', { nativeCall: { name: 'structuredClone', size: 1 } }],
    ['wait', { nativeCall: { name: 'Atomics.wait' }, cause: 'waiting' }],
    ['fork', { nativeCall: { name: 'child_process.spawn' } }],
    ['native', { nativeCall: { name: 'v8.deserialize', size: 1 } }],
    ['waiting', { cause: 'waiting', leaf: { functionName: 'g' } }],
    ['gc', { cause: 'gc' }],
    ['message', { cause: 'message' }],
    ['pileUp', { kind: 'pile-up' }],
    ['pileUp', { kind: 'pile-up', topFunctions: [{ functionName: 'f', share: 0.8 }] }],
    ['javascript', { kind: 'pile-up', topFunctions: [{ functionName: 'f', share: 0.95 }] }],
    ['leaf', { kind: 'callback', leaf: { functionName: 'g', file: '/app/node_modules/g.js' } }],
    ['leaf', { code: { functionName: 'g', file: '/app/node_modules/g.js', stackTrace: '' } }],
    ['javascript', { kind: 'callback', leaf: { functionName: 'g', file: '/app/g.js' } }],
    ['javascript', { kind: 'microtasks' }],
  ])('%s', (key, facts) => {
    expect(adviceOf(facts)).toBe(ADVICE[key]);
  });

  test('of a block without code: by what ran innermost, if that is known', () => {
    const unknown = block(100);
    expect(blockJson(unknown).advice).toBeUndefined();
    expect(blockJson({ ...unknown, cause: 'waiting' }).advice).toBeUndefined();
    const topFunctions = [{ functionName: 'f', share: 0.2 }];
    expect(blockJson({ ...unknown, topFunctions }).advice).toBe(ADVICE.many);
  });

  test('is none for loading a module before a server listens', () => {
    const code = { functionName: 'f', stackTrace: '', requires: '/app/big.js' };
    expect(blockJson({ ...block(100), code }).advice).toBe(ADVICE.requires);
    expect(blockJson({ ...block(100), code }, {}, true).advice).toBeUndefined();
    expect(blockJson(block(100, 'f'), {}, true).advice).toBe(ADVICE.javascript);
  });
});

describe('the schema', () => {
  test('describes a block with all that may be known, and with the least', () => {
    expect(
      errorsOf(blockJson(WHOLE_BLOCK, { operation: 'GET /', traceId: '0'.repeat(32) })),
    ).toEqual([]);
    expect(errorsOf(blockJson(block(100), { madeBy: 'GET /' }))).toEqual([]);
    expect(errorsOf(blockJson(block(100)))).toEqual([]);
  });

  test('has each field of a block, and no other', () => {
    const {
      type: _type,
      operation: _operation,
      madeBy: _madeBy,
      traceId: _traceId,
      advice: _advice,
      level: _level,
      time: _time,
      msg: _msg,
      ...fields
    } = schema.$defs.block.properties;
    expect(Object.keys(fields).sort()).toEqual(Object.keys(WHOLE_BLOCK).sort());
  });
});
