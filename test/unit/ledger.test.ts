import { type Context, ROOT_CONTEXT } from '@opentelemetry/api';
import fc from 'fast-check';
import type { OngoingPileUp } from '../../src/block.ts';
import { timeOf, Word } from '../../src/core/sample/shared-memory.ts';
import { EPOCH } from './support/fake-clock.ts';
import { contextOf, FakeLoop, nameOf, summary } from './support/fake-loop.ts';
import { stackSample } from './support/stack-sample.ts';

/** What the watchdog reads from the memory: the busy period that runs now. */
const busyPeriodOf = (l: FakeLoop) =>
  timeOf(Atomics.load(l.memory.words, Word.busyPeriod), l.clock.now());

const loop = () => new FakeLoop(100).primed();
const reported = (l: FakeLoop) => l.settle().map(summary);

describe('an AsyncResource', () => {
  test('entered again and again inside itself, deeper than is timed, is reported once', () => {
    const l = loop();
    const context = contextOf('deep');
    const enter = (levels: number): void => {
      l.callback(() => (levels === 0 ? l.clock.run(150) : enter(levels - 1)), context);
    };
    l.callback(() => enter(50));
    expect(reported(l)).toEqual([{ kind: 'callback', length: 150, callbacks: 1, context: 'deep' }]);
  });
});

describe('a run, known by stack samples', () => {
  const A = contextOf('A');
  const B = contextOf('B');
  const unhooked = () => new FakeLoop(100, false).primed();

  test('is the callback that a sample has interrupted, from the wait before it to its end', () => {
    const l = unhooked();
    const start = l.clock.now();
    l.callback(() => {
      l.clock.run(60);
      l.sample(A, 'render');
      l.clock.run(90);
    });
    l.callback(20, B);
    expect(reported(l)).toEqual([{ kind: 'callback', length: 150, callbacks: 1, context: 'A' }]);
    expect(l.blocks[0]?.start).toBe(start);
  });

  test('of reactions is one drain, up to its end', () => {
    const l = unhooked();
    l.callback(10);
    for (let i = 0; i < 50; i++) {
      l.reaction(() => {
        l.clock.run(2);
        if (i % 20 === 15) l.sample(A, 'step');
        l.clock.run(2);
      }, A);
    }
    l.callback(30, B);
    expect(reported(l)).toEqual([{ kind: 'microtasks', length: 210, callbacks: 1, context: 'A' }]);
  });

  test('of nextTicks and reactions by turns lasts up to the tick', () => {
    const l = unhooked();
    l.callback(10);
    for (let i = 0; i < 25; i++) {
      l.reaction(() => {
        l.clock.run(4);
        if (i % 10 === 9) l.sample(A, 'step');
      }, A);
      // The tick that was to see the end of the drain comes in the middle of it.
      if (i % 10 === 9) l.ledger.drained(l.clock.now());
      l.tick(4, A);
    }
    expect(reported(l)).toEqual([{ kind: 'microtasks', length: 210, callbacks: 1, context: 'A' }]);
  });

  test('ends half-way to a sample of another callback, or of another long nextTick', () => {
    const l = unhooked();
    const from = l.clock.now();
    const sample = (asyncId: number, drain: 'tick' | undefined, at: number) => ({
      ...stackSample(from + at, A),
      asyncId,
      drain,
    });
    l.clock.run(600);
    // The nextTicks of a callback run before the reaction that tells its end.
    const callback = sample(1, undefined, 70);
    const ticks = [sample(2, 'tick', 150), sample(2, 'tick', 200), sample(3, 'tick', 310)];
    l.ledger.ended([callback, ...ticks, sample(3, 'tick', 400)], l.clock.now());
    expect(reported(l).map(({ kind, length }) => [kind, length])).toEqual([
      ['callback', 110],
      ['microtasks', 145],
      ['microtasks', 345],
    ]);
  });

  test('of three requests that awaited one promise: a block of each, as long as it took', () => {
    const l = unhooked();
    const from = l.clock.now();
    l.clock.run(450);
    const requests = ['A', 'B', 'C'].map((name) => contextOf(name));
    const samples = [50, 90, 130, 170, 210, 252, 302, 362, 434].map((at) => ({
      ...stackSample(from + at, requests[Math.floor(at / 150)] ?? ROOT_CONTEXT),
      asyncId: 0,
      drain: 'reaction' as const,
    }));
    for (const each of samples) l.ledger.add(each);
    l.ledger.ended(samples, l.clock.now());
    l.ledger.drained(l.clock.now());
    expect(reported(l)).toMatchObject([
      { kind: 'microtasks', length: 150, context: 'A' },
      { kind: 'microtasks', length: 127, context: 'B' },
      { kind: 'microtasks', length: 173, context: 'C' },
    ]);
  });

  test('is one callback, whatever async resources are entered in it', () => {
    const l = unhooked();
    l.callback(() => {
      for (let i = 0; i < 3; i++) {
        l.clock.run(20);
        l.sample(A, 'step');
        l.callback(() => {
          l.clock.run(20);
          l.sample(A, 'bound');
        }, A);
      }
    }, A);
    expect(reported(l)).toEqual([{ kind: 'callback', length: 120, callbacks: 1, context: 'A' }]);
  });

  test.each([
    ['of the same trace is a part of it', A, 'microtasks', 'A'],
    ['of no trace may be of another one', ROOT_CONTEXT, 'pile-up', undefined],
  ])('what drains after a callback and is %s', (_what, context, kind, of) => {
    const l = unhooked();
    const half = (name: string) => () => {
      l.clock.run(40);
      l.sample(context, name);
      l.clock.run(20);
    };
    l.callback(half('callback'), context);
    l.reaction(half('reaction'), context);
    expect(reported(l)).toMatchObject([{ kind, length: 120, context: of }]);
  });

  test('is not if its first sample came late: what ran before may have been anybody’s', () => {
    const l = unhooked();
    for (let i = 0; i < 11; i++) l.callback(9);
    l.callback(() => {
      l.clock.run(2);
      l.sample(A, 'last');
      l.clock.run(8);
    });
    expect(reported(l)).toEqual([
      { kind: undefined, length: 109, callbacks: 1, context: undefined },
    ]);
  });
});

test('a run begins after the work of this package that ran before it', () => {
  const l = new FakeLoop(100, false).primed();
  const A = contextOf('A');
  l.callback(() => l.ledger.asOwnWork(() => l.clock.run(8)));
  const start = l.clock.now();
  for (let i = 0; i < 30; i++)
    l.reaction(() => {
      l.clock.run(4);
      if (i % 10 === 9) l.sample(A, 'step');
    });
  expect(reported(l)).toMatchObject([{ kind: 'microtasks', length: 120 }]);
  expect(l.blocks[0]?.start).toBe(start);
});

describe('a callback of async hooks', () => {
  test('begins and ends exactly, and what it leaves is not its', () => {
    const l = loop();
    l.callback(30).callback(140, contextOf('A')).callback(30);
    expect(reported(l)).toEqual([{ kind: 'callback', length: 140, callbacks: 1, context: 'A' }]);
  });

  test('inside another one is a part of that without a span of its own', () => {
    const l = loop();
    l.callback(() => {
      l.clock.run(20);
      l.callback(120);
    }, contextOf('A'));
    expect(reported(l)).toMatchObject([{ length: 140, context: 'A' }]);
  });

  test('right after the main script counts, although the loop has not turned yet', () => {
    const l = new FakeLoop();
    l.clock.loops = 0;
    l.callback(150, contextOf('first timer'));
    expect(reported(l)).toMatchObject([{ kind: 'callback', length: 150, context: 'first timer' }]);
  });

  test('in a worker thread, startup is over when the loop has turned', () => {
    const l = new FakeLoop();
    l.clock.started = false;
    l.callback(150);
    l.clock.turn();
    l.callback(160);
    expect(reported(l).map(({ length }) => length)).toEqual([160]);
  });
});

describe('a pile-up under way', () => {
  /** Asked in a callback of its own. */
  const underWay = (l: FakeLoop, context?: Context) => {
    let ongoing: OngoingPileUp | undefined;
    l.callback(() => {
      l.clock.run(30);
      ongoing = l.ledger.ongoingPileUp() as OngoingPileUp | undefined;
    }, context);
    return (
      ongoing && {
        length: ongoing.end - ongoing.start,
        context: nameOf(ongoing.context),
      }
    );
  };
  const a = contextOf('a');

  test('is what ran before the running callback, with its attribution', () => {
    const l = loop();
    for (let i = 0; i < 15; i++) l.callback(() => l.scope(a, 8));
    expect(underWay(l)).toEqual({ length: 120, context: 'a' });
  });
});

describe('attribution of a pile-up', () => {
  const pileUp = (l: FakeLoop, lengths: number[]) => {
    for (const [i, length] of lengths.entries()) {
      // Each request's span starts with its callback, as an HTTP server's does.
      const context = contextOf(`r${i}`, EPOCH + l.clock.now());
      l.callback(() => l.scope(context, length));
    }
    return reported(l).map(({ length, context }) => ({ length, context }));
  };

  test('one that ran longest of many is not if its span would hide more than a quarter', () => {
    expect(pileUp(loop(), [50, 90, 30])).toMatchObject([{ context: undefined }]);
    expect(pileUp(loop(), [30, 90, 30])).toMatchObject([{ context: 'r1' }]);
  });
});

test('reporting of this package that had no CPU is not the application’s with more around it', () => {
  const l = loop();
  l.isBlock = ({ end, start }) => end - start > 120; // the rest was a suspension
  l.callback(() => {
    l.ledger.asOwnWork(() => l.clock.run(110));
    l.clock.run(30);
  });
  expect(l.settle()).toEqual([]);
});

test('the stacks of an iteration that is long by the wall only are not read', () => {
  const l = loop();
  l.isBlock = () => false; // a suspension
  let reads = 0;
  const sample = {
    ...stackSample(l.clock.now(), ROOT_CONTEXT),
    get frames() {
      reads++;
      return [];
    },
  };
  l.ledger.waitedSince(Number.NaN, l.clock.now());
  l.callback(() => {
    l.clock.run(60);
    l.ledger.add(sample);
    l.clock.run(60);
  });
  l.nextIteration();
  expect(reads).toBe(0);
});

describe('callbacks of 20 ms, and after each 2 ms of this package’s reports', () => {
  const reports = (callbacks: number) => {
    const l = loop();
    for (let i = 0; i < callbacks; i++) {
      l.callback(20);
      l.callback(() => l.ledger.asOwnWork(() => l.clock.run(2)));
    }
    return l;
  };

  test('are no block as long as the callbacks alone do not reach the threshold', () => {
    const l = reports(4);
    l.callback(19);
    l.callback(() => expect(l.ledger.ongoingPileUp()).toBeUndefined());
    expect(l.settle()).toEqual([]);
  });

  test('are one as soon as they do', () => {
    const l = reports(5);
    l.callback(() => expect(l.ledger.ongoingPileUp()).toMatchObject({ start: 1010 }));
    expect(l.settle().map(({ isOwnWork, start, end }) => [isOwnWork, end - start])).toEqual([
      [false, 110],
    ]);
  });
});

test('a lost after does not stop detection for longer than an iteration', () => {
  const l = loop();
  l.ledger.enter();
  l.nextIteration();
  l.callback(150);
  expect(reported(l)).toMatchObject([{ kind: 'callback', length: 150 }]);
});

test('the loop runs out of work: what was open is closed, without the time it waited last', () => {
  const l = loop();
  l.reaction(150, contextOf('R'));
  l.clock.wait(500);
  l.ledger.finish();
  expect(l.blocks.map(summary)).toEqual([
    { kind: 'microtasks', length: 150, callbacks: 1, context: 'R' },
  ]);
  l.ledger.finish();
  expect(l.blocks).toHaveLength(1);
});

test('reset forgets what was open', () => {
  const l = loop();
  l.callback(60).callback(60);
  l.ledger.reset();
  expect(reported(l)).toEqual([]);
});

test('memory stays bounded in an iteration that reports blocks without end', () => {
  const l = new FakeLoop(1).primed();
  l.settle();
  l.blocks.length = 0;
  l.callback(() => {
    for (let i = 0; i < 20_000; i++) l.scope(ROOT_CONTEXT, 2);
  });
  expect(l.blocks).toHaveLength(20_000);
  l.settle();
  expect(l.blocks.reduce((sum, b) => sum + b.end - b.start, 0)).toBeLessThanOrEqual(40_000);
});

describe('any sequence of events', () => {
  type Step =
    | { type: 'callback' | 'tick' | 'reaction' | 'scope'; millis: number; inner: Step[] }
    | { type: 'run' | 'wait' | 'turn'; millis: number };

  const millis = fc.integer({ min: 0, max: 80 });
  const { step } = fc.letrec<{ step: Step }>((tie) => ({
    step: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.record({
        type: fc.constantFrom('run' as const, 'wait' as const, 'turn' as const),
        millis,
      }),
      fc.record({
        type: fc.constantFrom(
          'callback' as const,
          'tick' as const,
          'reaction' as const,
          'scope' as const,
        ),
        millis,
        inner: fc.array(tie('step'), { maxLength: 4 }),
      }),
    ),
  }));

  test('gives blocks that never overlap, never contain a wait, and never miss a scope or an iteration', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const l = loop();
        const waits: [number, number][] = [];
        const scopes: { start: number; end: number; context: string }[] = [];
        let depth = 0;
        const iterations: { start: number; end: number }[] = [];
        let iterationStart = l.clock.now();
        const turn = (waitMillis: number) => {
          iterations.push({ start: iterationStart, end: l.clock.now() });
          l.nextIteration(waitMillis);
          iterationStart = l.clock.now();
        };
        const play = (s: Step): void => {
          switch (s.type) {
            case 'run':
              l.clock.run(s.millis);
              return;
            case 'wait':
              // The loop waits, and turns, only when nothing runs, and an iteration waits once.
              if (depth === 0 && s.millis > 0) {
                const start = l.clock.now();
                turn(s.millis);
                waits.push([start, l.clock.now()]);
              }
              return;
            case 'turn':
              if (depth === 0) turn(0);
              return;
          }
          const body = () => {
            l.clock.run(s.millis);
            s.inner.forEach(play);
          };
          depth++;
          if (s.type === 'scope') {
            const context = contextOf(`scope ${scopes.length}`);
            const start = l.clock.now();
            // Scopes are entered from a callback, or from a reaction without a hook; in that
            // nothing else begins.
            if (depth > 1) l.scope(context, body);
            else l.callback(() => l.scope(context, body));
            scopes.push({ start, end: l.clock.now(), context: nameOf(context) as string });
          } else l[s.type](body);
          depth--;
        };
        l.ownTick();
        const begin = l.clock.now();
        steps.forEach(play);
        const blocks = [...l.settle()].sort((a, b) => a.start - b.start);

        for (const [i, block] of blocks.entries()) {
          expect(block.start).toBeGreaterThanOrEqual(begin);
          expect(block.end - block.start).toBeGreaterThanOrEqual(100);
          if (block.kind === 'pile-up') expect(block.callbacks).toBeGreaterThan(1);
          const next = blocks[i + 1];
          if (next !== undefined) expect(next.start).toBeGreaterThanOrEqual(block.end);
          for (const [from, until] of waits) {
            expect(Math.min(until, block.end) - Math.max(from, block.start)).toBeLessThanOrEqual(
              1e-6,
            );
          }
        }
        // Every scope and iteration is reported but for gaps that are shorter than the threshold.
        for (const { start, end } of [...scopes, ...iterations]) {
          let from = start;
          for (const block of blocks) {
            if (block.end <= from || block.start >= end) continue;
            expect(block.start - from).toBeLessThan(100);
            from = Math.max(from, block.end);
          }
          expect(end - from).toBeLessThan(100);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

describe('captures', () => {
  const capture = (l: FakeLoop, name: string) => l.sample(contextOf(name), name);

  test('belong to the block they were made in', () => {
    const l = loop();
    l.callback(() => {
      l.scope(contextOf('A'), () => {
        l.clock.run(60);
        capture(l, 'a');
        l.clock.run(60);
      });
      l.scope(contextOf('B'), () => {
        l.clock.run(60);
        capture(l, 'b');
        l.clock.run(60);
      });
    });
    const names = l
      .settle()
      .map(({ samples }) => samples.map((s) => [s.frames[0]?.functionName, s.weight]));
    expect(names).toEqual([[['a', 120]], [['b', 120]]]);
  });

  describe('in a scope that no other scope parts', () => {
    const captured = (inside: (l: FakeLoop) => void) => {
      const l = loop();
      l.callback(() => l.scope(contextOf('request'), () => inside(l)));
      return reported(l);
    };
    const block = { kind: 'callback', length: 150, callbacks: 1 };

    test('give the span that was entered without the context manager, if all of them have it', () => {
      const handler = contextOf('handler');
      const reported = captured((l) => {
        l.clock.run(60);
        l.sample(handler, 'hash');
        l.clock.run(60);
        l.sample(handler.setValue(Symbol(), 1), 'hash');
        l.clock.run(30);
      });
      expect(reported).toEqual([{ ...block, context: 'handler' }]);
    });

    test('give no parent if they do not agree', () => {
      const reported = captured((l) => {
        l.clock.run(60);
        capture(l, 'a');
        l.clock.run(60);
        capture(l, 'b');
        l.clock.run(30);
      });
      expect(reported).toEqual([{ ...block, context: 'request' }]);
    });
  });

  test('come too late for the busy period before, and for a loop that waits', () => {
    const l = loop().ownTick();
    l.callback(50);
    const first = busyPeriodOf(l);
    expect(l.ledger.isLatest(first)).toBe(true);
    expect(l.ledger.iterations.mayWait()).toBe(false);
    l.clock.wait(5);
    expect(l.ledger.isLatest(first)).toBe(true);
    expect(l.ledger.iterations.mayWait()).toBe(true);
    l.nextIteration().callback(1);
    expect(busyPeriodOf(l)).not.toBe(first);
    expect(l.ledger.isLatest(first)).toBe(false);
    expect(l.ledger.isLatest(busyPeriodOf(l))).toBe(true);
    expect(l.ledger.iterations.mayWait()).toBe(false);
  });

  test('whether the loop waited at a moment is known for the latest wait and what ran since', () => {
    const l = loop();
    const waitedAt = (time: number) => l.ledger.wasWaitingAt(time);
    l.ownTick().callback(10).ownTick();
    const end = l.clock.now();
    expect(waitedAt(end - 5)).toBe(false);
    // Asked while it waited, which the answer ended.
    l.clock.wait(5);
    expect(waitedAt(end + 2)).toBe(true);
    expect(waitedAt(end - 5)).toBe(false);
    // Asked while it waited, and answered in the callback that came then.
    l.nextIteration().callback(() => {
      l.clock.run(2);
      expect(waitedAt(end + 2)).toBe(true);
      expect(waitedAt(end + 6)).toBe(false);
      expect(waitedAt(end - 5)).toBe(false);
    });
  });
});

describe('while nothing blocks', () => {
  test('a scope reads the clock once, a tick once', () => {
    const l = new FakeLoop(100, false).ownTick();
    l.ledger.watch(true);
    const now = jest.spyOn(l.clock, 'now');
    l.scope(contextOf('A'), 1);
    expect(now).toHaveBeenCalledTimes(1);
    l.ownTick();
    expect(now).toHaveBeenCalledTimes(2);
  });
});

test('an ongoing block begins after the wait', () => {
  const l = new FakeLoop(100, false).primed();
  const start = l.clock.now();
  l.clock.run(120);
  expect(l.ledger.ongoing(false)).toMatchObject({ kind: 'callback', start, callbacks: 1 });
  expect(l.ledger.ongoing(true)).toMatchObject({ kind: 'microtasks', start });
});
