import { type BlockEnd, Queue, queuedBy, type SpanBegin } from '../../src/stalls/queue.ts';
import type { RecentBlock } from '../../src/stalls/recent-blocks.ts';

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
  taskStart: 501,
  asyncId: 12,
  ...more,
});

const lengths = (end: Partial<BlockEnd>, at: Partial<SpanBegin>) => {
  const queue = new Queue();
  queue.add(block(100, 500), { ...END, ...end });
  return queue.blocksBefore(begin(at)).length;
};

test.each([
  ['later in the iteration of the block', { iteration: 7 }, 1],
  ['in the next iteration', {}, 1],
  ['in the one after that, on a connection that was there before', { iteration: 9 }, 0],
  ['in the one after that, on a new connection', { iteration: 9, asyncId: 41 }, 1],
  ['on a new connection from far behind in the backlog', { iteration: 135, asyncId: 41 }, 1],
  ['on a new connection, long after', { iteration: 136, asyncId: 41 }, 0],
  ['after the loop has waited for events', { idle: 90.25 }, 0],
  ['in the task that blocked', { iteration: 7, taskStart: 90 }, 0],
  ['if tasks are not known, in the same iteration', { iteration: 7, taskStart: Number.NaN }, 0],
  ['if tasks are not known, in the next iteration', { taskStart: Number.NaN }, 1],
])('a span that begins %s', (_when, at, count) => {
  expect(lengths({}, at)).toBe(count);
});

test('nothing is left of what is over', () => {
  const queue = new Queue();
  expect(queue.isEmpty).toBe(true);
  queue.add(block(100, 500), END);
  expect(queue.isEmpty).toBe(false);
  queue.blocksBefore(begin({ idle: 91 }));
  expect(queue.isEmpty).toBe(true);
});

test('one after the other, they add up; the link leads to the longest', () => {
  const [first, second] = [block(100, 500), block(500, 650)];
  expect(queuedBy([first, second])).toEqual({ millis: 550, longest: first });
  expect(queuedBy([second, first])).toEqual({ millis: 550, longest: first });
  expect(queuedBy([])).toBeUndefined();
});

test('a request has not waited before it was received', () => {
  const [first, second] = [block(100, 500), block(500, 650)];
  expect(queuedBy([first, second], 480)).toEqual({ millis: 170, longest: second });
  expect(queuedBy([first, second], 50)).toEqual({ millis: 550, longest: first });
  expect(queuedBy([first, second], 650)).toBeUndefined();
});

test('however many blocks there are in one iteration, memory is bounded', () => {
  const queue = new Queue();
  for (let i = 0; i < 10_000; i++) queue.add(block(i, i + 1), { ...END, end: i + 1 });
  expect(queue.blocksBefore(begin({ taskStart: 10_001 })).length).toBeLessThanOrEqual(1024);
});
