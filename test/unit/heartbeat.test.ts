import { Heartbeat } from '../../src/detect/heartbeat.ts';
import { contextOf, FakeLoop, summary } from './support/fake-loop.ts';

const INTERVAL = 20;
const busy = contextOf('busy');

function setUp(hooked: boolean) {
  const loop = new FakeLoop(100);
  const lags: number[] = [];
  const errors: unknown[] = [];
  let upkeeps = 0;
  const heartbeat = new Heartbeat(loop.ledger, loop.clock, {
    intervalMillis: INTERVAL,
    thresholdMillis: 100,
    hooked,
    record: (millis) => lags.push(millis),
    upkeep: () => upkeeps++,
    onError: (error) => errors.push(error),
  });
  /** The timer's callback, as the loop runs it. */
  const beat = () => (hooked ? loop.callback(() => heartbeat.beat()) : heartbeat.beat());
  loop.nextIteration();
  beat();
  return { loop, heartbeat, lags, beat, errors, upkeeps: () => upkeeps };
}

describe.each([true, false])('with hooks: %p', (hooked) => {
  test('the first beat tells nothing, a punctual one no lag', () => {
    const { loop, lags, beat, upkeeps } = setUp(hooked);
    expect(lags).toEqual([]);
    loop.nextIteration(INTERVAL);
    beat();
    expect(lags).toEqual([0]);
    expect(upkeeps()).toBe(2);
  });

  test('the whole milliseconds that timers count in are no lag', () => {
    const { loop, lags, beat } = setUp(hooked);
    loop.nextIteration(INTERVAL + 0.9);
    beat();
    loop.nextIteration(INTERVAL - 0.4);
    beat();
    expect(lags).toEqual([0, 0]);
  });

  test('a held loop is lag, for every arrival in that time', () => {
    const { loop, lags, beat } = setUp(hooked);
    loop.nextIteration(15).callback(65).nextIteration();
    beat();
    expect(lags).toEqual([60, 40, 20]);
  });

  test('between beats it tells how late the next one is', () => {
    const { loop, heartbeat, beat } = setUp(hooked);
    loop.clock.run(INTERVAL - 1);
    expect(heartbeat.overdue()).toBe(0);
    loop.clock.run(51);
    expect(heartbeat.overdue()).toBe(50);
    beat();
    expect(heartbeat.overdue()).toBe(0);
  });

  test('a process that is stopped while it waits has no lag', () => {
    const { loop, lags, beat } = setUp(hooked);
    loop.nextIteration(5000);
    beat();
    expect(lags).toEqual([0]);
  });
});

describe('without hooks', () => {
  test('a block is told by the beat that comes late, without a kind', () => {
    const { loop, beat } = setUp(false);
    loop.nextIteration(10);
    const start = loop.clock.now();
    loop.unseen(150).nextIteration();
    beat();
    expect(loop.blocks.map(summary)).toEqual([
      { kind: undefined, length: 150, callbacks: 1, context: undefined },
    ]);
    expect(loop.blocks[0]?.start).toBe(start);
  });

  test('what a scope reported of it is not reported again', () => {
    const { loop, beat } = setUp(false);
    loop.nextIteration(10).scope(loop.active, 150).nextIteration();
    beat();
    expect(loop.blocks.map(({ kind }) => kind)).toEqual(['callback']);
  });

  test('the scope that ran most of it is blamed', () => {
    const { loop, beat } = setUp(false);
    loop.nextIteration(10);
    for (let i = 0; i < 20; i++) loop.scope(busy, 6).scope(contextOf('other'), 2);
    loop.nextIteration();
    beat();
    expect(loop.blocks.map(summary)).toMatchObject([{ kind: undefined, length: 160, context: 'busy' }]);
  });

  test('a busy loop that yields is none', () => {
    const { loop, beat } = setUp(false);
    for (let i = 0; i < 50; i++) {
      loop.unseen(25).nextIteration();
      beat();
    }
    expect(loop.blocks).toEqual([]);
  });
});
