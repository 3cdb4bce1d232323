import { type BlockEnd, Queue, queuedBy, type SpanBegin } from '../../src/core/stalls/queue.ts';
import type { RecentBlock } from '../../src/core/stalls/recent-blocks.ts';

const block = (start: number, end: number): RecentBlock => ({
  start,
  end,
  blockingSpanIds: new Set(),
  span: undefined,
  named: undefined,
});

/** A block of iteration 7 that ended at 500, when the latest async id was 40. */
const END: BlockEnd = { end: 500, iteration: 7, idle: 90, asyncId: 40 };
const begin = (more: Partial<SpanBegin>): SpanBegin => ({
  iteration: 8,
  idle: 90,
  beganAt: 501,
  taskStart: 501,
  asyncId: 12,
  ...more,
});

const [first, second] = [block(100, 500), block(500, 650)];
const maybe = [second, first].map((each) => ({ block: each, from: each.start, isWhole: false }));
const waitsOf = (...asked: Parameters<typeof queuedBy>) => queuedBy(...asked)?.waits();

test('what it surely waited for counts as a whole, and so does what ran since', () => {
  const blocks = [{ block: second, from: second.start, isWhole: true }, ...maybe.slice(1)];
  expect(waitsOf({ blocks }, 660)).toEqual([
    { block: second, millis: 160 },
    { block: first, millis: 200 },
  ]);
});

test('requests that came in the first part of the blocks waited for the rest', () => {
  const waitsIf = (millis: number) => waitsOf({ blocks: maybe, comeFor: () => millis }, 650);
  expect(waitsIf(Number.POSITIVE_INFINITY)).toEqual([
    { block: second, millis: (150 * (400 + 75)) / 550 },
    { block: first, millis: (400 * 200) / 550 },
  ]);
  expect(waitsIf(100)).toEqual([
    { block: second, millis: 150 },
    { block: first, millis: 350 },
  ]);
  expect(waitsIf(450)).toEqual([
    { block: second, millis: (150 * 400 + 50 * 125) / 450 },
    { block: first, millis: (400 * 200) / 450 },
  ]);
});

describe('new connections are accepted in order', () => {
  /** Each begins at a time and has an async id; one of them is accepted in each iteration. */
  const waitsOfAll = (...accepted: [beganAt: number, asyncId: number][]) => {
    const queue = new Queue();
    queue.add(first, { ...END, asyncId: 10 });
    const queued = accepted.map(([beganAt, asyncId], i) => {
      const at = begin({ iteration: 9 + i, taskStart: beganAt, beganAt, asyncId });
      return queuedBy(queue.before(at), beganAt);
    });
    return queued.map((each) => each?.waits().reduce((sum, { millis }) => sum + millis, 0));
  };

  test('until the last is accepted: one that came after the block has waited for others', () => {
    expect(waitsOfAll([500, 20], [700, 21], [900, 22])).toEqual([200, 200, 200]);
  });

  test('none arrives once others of them are free', () => {
    expect(waitsOfAll([500, 20], [600, 20], [900, 21])).toEqual([
      400 - 400 / 3,
      undefined,
      400 - 800 / 3 + 400,
    ]);
  });
});

describe('before a server listens, nobody can come', () => {
  const waitedAfter = (...listens: number[]) => {
    const queue = new Queue();
    for (const at of listens.filter((each) => each < first.end)) queue.listens(at);
    queue.add(first, END);
    for (const at of listens.filter((each) => each >= first.end)) queue.listens(at);
    return queuedBy(queue.before(begin({})), 501)?.millis;
  };

  test.each([
    ['in a block', [300], 200],
    ['after it', [500], undefined],
    ['before it', [90], 400],
    ['twice', [90, 300], 200],
  ])('%s', (_, listens, millis) => expect(waitedAfter(...listens)).toBe(millis));

  test('unless another one has served', () => {
    const queue = new Queue();
    queue.add(first, END);
    queue.before(begin({}));
    queue.listens(502);
    expect(queuedBy(queue.before(begin({})), 503)?.millis).toBe(400);
  });
});

test('more becomes known of what waits until the loop does, or until there are a thousand', () => {
  const backlog = () => {
    const queue = new Queue();
    queue.add(first, END);
    return queue;
  };
  expect(backlog().isOver(begin({}))).toBe(false);
  expect(backlog().isOver(begin({ idle: 91 }))).toBe(true);
  const long = backlog();
  for (let i = 0; i < 1000; i++) long.before(begin({}));
  expect(long.isOver(begin({}))).toBe(true);
});

test('however many blocks there are in one iteration, memory is bounded', () => {
  const queue = new Queue();
  for (let i = 0; i < 10_000; i++) queue.add(block(i, i + 1), { ...END, end: i + 1 });
  expect(queue.before(begin({ taskStart: 10_001 })).blocks.length).toBeLessThanOrEqual(1024);
});
