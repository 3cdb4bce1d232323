import { type Context, createContextKey, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import fc from 'fast-check';
import type { OngoingBlock, OngoingPileUp } from '../../src/block.ts';
import { RESOURCE_SCOPE } from '../../src/detect/callbacks.ts';
import { Progress, timeOf, Word } from '../../src/sample/shared-memory.ts';
import { EPOCH } from './support/fake-clock.ts';
import { contextOf, FakeLoop, fakeSpanOf, nameOf, summary } from './support/fake-loop.ts';

/** What the watchdog reads from the memory: the busy period that runs now. */
const busyPeriodOf = (l: FakeLoop) =>
  timeOf(Atomics.load(l.memory.words, Word.busyPeriod), l.clock.now());

const loop = () => new FakeLoop(100).primed();
const reported = (l: FakeLoop) => l.settle().map(summary);

const bRequest = contextOf('B');

describe('one callback', () => {
  test('that reaches the threshold is a block, exactly as long as it ran', () => {
    const l = loop();
    const start = l.clock.now();
    l.callback(100, contextOf('S'));
    expect(reported(l)).toEqual([{ kind: 'callback', length: 100, callbacks: 1, context: 'S' }]);
    expect(l.blocks[0]).toMatchObject({
      start,
      end: start + 100,
      resourceType: 'Timeout',
      isOwnWork: false,
      cpu: 100,
    });
  });

  test('that does not reach the threshold is none', () => {
    expect(reported(loop().callback(99.9, contextOf('S')))).toEqual([]);
  });

  test('is reported once when callbacks are nested in it', () => {
    const l = loop();
    l.callback(() => {
      l.clock.run(60);
      l.callback(() => l.callback(120));
      l.clock.run(20);
    }, contextOf('outer'));
    expect(reported(l)).toEqual([
      { kind: 'callback', length: 200, callbacks: 1, context: 'outer' },
    ]);
  });

  test('a long nextTick is a callback', () => {
    const l = loop();
    l.callback(1).tick(150, contextOf('T'));
    expect(reported(l)).toEqual([{ kind: 'callback', length: 150, callbacks: 1, context: 'T' }]);
  });
});

describe('context scopes', () => {
  test('a block is attributed to the scope that blocked, not to the callback around it', () => {
    const l = loop();
    l.callback(() => l.scope(contextOf('request'), 150));
    expect(reported(l)).toEqual([
      { kind: 'callback', length: 150, callbacks: 1, context: 'request' },
    ]);
  });

  test('the innermost scope that reaches the threshold owns its part, the outer ones what is left', () => {
    const l = loop();
    l.callback(() =>
      l.scope(contextOf('outer'), () => {
        l.clock.run(110);
        l.scope(contextOf('inner'), 200);
        l.clock.run(120);
      }),
    );
    expect(reported(l)).toEqual([
      { kind: 'callback', length: 200, callbacks: 1, context: 'inner' },
      { kind: 'callback', length: 110, callbacks: 1, context: 'outer' },
      { kind: 'callback', length: 120, callbacks: 1, context: 'outer' },
    ]);
  });

  test('a block split over two nested scopes, neither of which reaches the threshold alone, belongs to the outer', () => {
    const l = loop();
    l.callback(() =>
      l.scope(contextOf('outer'), () => {
        l.clock.run(60);
        l.scope(contextOf('inner'), 60);
      }),
    );
    expect(reported(l)).toEqual([
      { kind: 'callback', length: 120, callbacks: 1, context: 'outer' },
    ]);
  });

  test('two scopes in one callback are two blocks', () => {
    const l = loop();
    l.callback(() => {
      l.scope(contextOf('A'), 100);
      l.scope(contextOf('B'), 120);
    });
    expect(reported(l)).toEqual([
      { kind: 'callback', length: 100, callbacks: 1, context: 'A' },
      { kind: 'callback', length: 120, callbacks: 1, context: 'B' },
    ]);
  });

  test('scopes of one span inside each other are one block', () => {
    const l = loop();
    const request = contextOf('request');
    const bound = request.setValue(Symbol(), 'bound');
    const parts = () => {
      l.clock.run(40);
      l.scope(bound, 120);
      l.clock.run(110);
    };
    l.callback(() => l.scope(request, parts)).nextIteration(1);
    l.callback(parts, request);
    expect(reported(l)).toEqual([
      { kind: 'callback', length: 270, callbacks: 1, context: 'request' },
      { kind: 'callback', length: 270, callbacks: 1, context: 'request' },
    ]);
  });

  test.each([
    ['in a scope of another span', (l: FakeLoop, run: () => void) => l.scope(contextOf('A'), run)],
    ['in a promise reaction', (l: FakeLoop, run: () => void) => l.reaction(run, bRequest)],
  ])('%s, a scope is a block of its own', (_, around) => {
    const l = loop().callback(1);
    around(l, () => l.scope(bRequest, 120));
    expect(reported(l)).toMatchObject([{ kind: 'callback', length: 120, context: 'B' }]);
  });

  test('what ran before and after a span, in a callback without one, is not attributed to that span', () => {
    const l = loop();
    const sampled = (context: Context) => {
      for (let i = 0; i < 4; i++) {
        l.clock.run(25);
        l.sample(context);
        l.clock.run(5);
      }
    };
    l.callback(() => {
      sampled(ROOT_CONTEXT);
      const request = contextOf('request', EPOCH + l.clock.now());
      l.scope(request, () => {
        for (let i = 0; i < 4; i++) sampled(request);
      });
      fakeSpanOf(request).endEpoch = EPOCH + l.clock.now();
      sampled(ROOT_CONTEXT);
    });
    expect(reported(l)).toEqual([
      { kind: 'callback', length: 480, callbacks: 1, context: 'request' },
      { kind: 'callback', length: 120, callbacks: 1, context: undefined },
      { kind: 'callback', length: 120, callbacks: 1, context: undefined },
    ]);
  });

  test('short scopes in a callback without a span: the block is attributed to the one that took longest', () => {
    const l = loop();
    l.callback(() => {
      l.scope(contextOf('A'), 60);
      l.scope(contextOf('B'), 50);
    });
    expect(reported(l)).toEqual([{ kind: 'callback', length: 110, callbacks: 1, context: 'A' }]);
  });

  test('a scope counts its own time, not that of the scopes inside it', () => {
    const l = loop();
    l.callback(() => {
      l.scope(contextOf('outer'), () => {
        l.clock.run(6);
        l.scope(contextOf('inner'), 70);
      });
      l.scope(contextOf('other'), 24);
    });
    expect(reported(l)).toEqual([
      { kind: 'callback', length: 100, callbacks: 1, context: 'inner' },
    ]);
  });

  test('one that is shorter than a thousandth of the threshold does not vote', () => {
    const l = loop();
    const votes: boolean[] = [];
    l.callback(() => {
      l.clock.run(20);
      for (const millis of [0.09, 0.11]) {
        const before = l.ledger.voted;
        l.scope(contextOf('resolver'), millis);
        votes.push(l.ledger.voted > before);
      }
    });
    expect(votes).toEqual([false, true]);
  });

  test('a scope inside a promise reaction is a callback', () => {
    const l = loop();
    l.callback(1).reaction(() => l.scope(contextOf('R'), 150));
    expect(reported(l)).toEqual([{ kind: 'callback', length: 150, callbacks: 1, context: 'R' }]);
  });
});

describe('what ran in a block', () => {
  const ran = (l: FakeLoop) =>
    l.settle().map((block) => block.ran?.map(({ context, millis }) => [nameOf(context), millis]));

  test('of one scope: each scope inside it for its own time, it for the remainder', () => {
    const l = loop();
    l.callback(() =>
      l.resource(() => {
        l.clock.run(124);
        l.scope(contextOf('server'), () => {
          l.clock.run(1);
          l.scope(contextOf('handler'), 67);
        });
      }, contextOf('parser')),
    );
    expect(ran(l)).toEqual([
      [
        ['handler', 67],
        ['server', 1],
        ['parser', 124],
      ],
    ]);
  });

  test('if the scope had ended when the last of them ran, the block is of the span around it', () => {
    const l = loop();
    const [server, parser] = [contextOf('server'), contextOf('parser')];
    const span = fakeSpanOf(parser);
    span.parent = fakeSpanOf(server);
    l.callback(() =>
      l.resource(() => {
        l.clock.run(124);
        span.endEpoch = l.clock.epoch(l.clock.now());
        l.scope(contextOf('handler'), 68);
      }, parser),
    );
    const [block] = l.settle();
    expect(block).toMatchObject({ kind: 'callback', callbacks: 1 });
    expect((block?.end ?? 0) - (block?.start ?? 0)).toBe(192);
    expect(trace.getSpan(block?.context ?? ROOT_CONTEXT)).toBe(fakeSpanOf(server));
  });

  test('of a pile-up: each callback', () => {
    const l = loop();
    l.callback(60, contextOf('A')).callback(50, contextOf('B'));
    expect(ran(l)).toEqual([
      [
        ['A', 60],
        ['B', 50],
      ],
    ]);
  });
});

describe('an AsyncResource', () => {
  test('inside a callback is a scope with the context it was made in', () => {
    const l = loop();
    l.callback(() => {
      l.clock.run(20);
      l.resource(150, contextOf('resource'));
    });
    expect(reported(l)).toEqual([
      { kind: 'callback', length: 150, callbacks: 1, context: 'resource' },
    ]);
  });

  test('without a span of its own is a part of the callback around it', () => {
    const l = loop();
    l.callback(() => l.resource(150), contextOf('callback'));
    expect(reported(l)).toEqual([
      { kind: 'callback', length: 150, callbacks: 1, context: 'callback' },
    ]);
  });

  test('in a reaction is a callback, whether the reaction has hooks or not', () => {
    const context = contextOf('resource');
    const hooked = loop();
    hooked.callback(1).reaction(() => hooked.resource(150, context));
    const unhooked = loop();
    unhooked.callback(1).withoutHooks(2).resource(150, context);
    for (const l of [hooked, unhooked]) {
      expect(reported(l)).toEqual([
        { kind: 'callback', length: 150, callbacks: 1, context: 'resource' },
      ]);
    }
  });

  test('entered again and again inside itself, deeper than is timed, is reported once', () => {
    const l = loop();
    const context = contextOf('deep');
    const enter = (levels: number): void => {
      l.resource(() => (levels === 0 ? l.clock.run(150) : enter(levels - 1)), context);
    };
    l.callback(() => enter(50));
    expect(reported(l)).toEqual([{ kind: 'callback', length: 150, callbacks: 1, context: 'deep' }]);
  });
});

test('asking for the context may itself run callbacks, which are not counted', () => {
  const l = loop();
  const context = contextOf('resource');
  l.onContext = () => l.resource(0, context);
  l.callback(() => l.resource(150, context)).callback(120, context);
  l.callback(1).withoutHooks(1).resource(130, context);
  expect(reported(l).map(({ length, callbacks }) => [length, callbacks])).toEqual([
    [150, 1],
    [120, 1],
    [130, 1],
  ]);
});

describe('what drains after a callback', () => {
  test('one long promise reaction is microtasks, as long as the whole task', () => {
    const l = loop();
    l.callback(2).reaction(150, contextOf('R'));
    expect(reported(l)).toEqual([{ kind: 'microtasks', length: 152, callbacks: 1, context: 'R' }]);
  });

  test('many short reactions are one block', () => {
    const l = loop();
    const context = contextOf('R');
    l.callback(1);
    for (let i = 0; i < 300; i++) l.reaction(1, context);
    expect(reported(l)).toEqual([{ kind: 'microtasks', length: 301, callbacks: 1, context: 'R' }]);
  });

  test('without promise hooks it has the same kind and length, and no attribution', () => {
    const l = loop();
    l.callback(1).withoutHooks(300);
    expect(reported(l)).toEqual([
      { kind: 'microtasks', length: 301, callbacks: 1, context: undefined },
    ]);
  });

  test('a chain of nextTicks is one block of microtasks', () => {
    const l = loop();
    const context = contextOf('T');
    l.callback(1);
    for (let i = 0; i < 50; i++) l.tick(4, context);
    expect(reported(l)).toEqual([{ kind: 'microtasks', length: 201, callbacks: 51, context: 'T' }]);
  });

  test('a reaction without a hook is not attributed to the tick that ran after it', () => {
    const l = loop();
    l.callback(1).withoutHooks(200).tick(0.1, contextOf('tick'));
    expect(reported(l)).toMatchObject([{ kind: 'microtasks', context: undefined }]);
  });

  test('a mixed chain is attributed to what ran most of it', () => {
    const l = loop();
    const [a, b] = [contextOf('A'), contextOf('B')];
    l.callback(1);
    for (let i = 0; i < 60; i++) l.reaction(1, a).reaction(4, b);
    expect(reported(l)).toMatchObject([{ kind: 'microtasks', context: 'B' }]);
  });

  test('a long callback and a long drain after it are two blocks', () => {
    const l = loop();
    l.callback(120, contextOf('C')).reaction(150, contextOf('R'));
    expect(reported(l)).toEqual([
      { kind: 'callback', length: 120, callbacks: 1, context: 'C' },
      { kind: 'microtasks', length: 150, callbacks: 1, context: 'R' },
    ]);
  });
});

describe("callbacks of an HTTP server's parser", () => {
  const S = contextOf('S');

  test('of one message are one task with what drains after the last of them', () => {
    const l = loop();
    l.message(7, 60, S).message(7, 0).message(7, 0).reaction(90, S);
    expect(reported(l)).toEqual([{ kind: 'microtasks', length: 150, callbacks: 3, context: 'S' }]);
  });

  test('of two connections are two tasks', () => {
    const l = loop();
    l.message(7, 60, S).message(8, 0).reaction(90, S);
    expect(reported(l)).toMatchObject([{ kind: 'pile-up', length: 150 }]);
  });

  test('of one message begin another task after a drain', () => {
    const l = loop();
    l.message(7, 60, S).tick(1).message(7, 0).reaction(90, S);
    expect(reported(l)).toMatchObject([{ kind: 'pile-up', length: 151 }]);
  });

  test('of one message begin another task after another callback', () => {
    const l = loop();
    l.message(7, 60, S).callback(1).message(7, 0).reaction(90, S);
    expect(reported(l)).toMatchObject([{ kind: 'pile-up', length: 151 }]);
  });

  test('of one message begin another task in the next iteration', () => {
    const l = loop();
    l.message(7, 60, S).nextIteration();
    l.message(7, 0).reaction(90, S);
    expect(reported(l)).toEqual([]);
  });

  test('many of one message pile up', () => {
    const l = loop();
    for (let i = 0; i < 30; i++) l.message(7, 5, S);
    expect(reported(l)).toEqual([{ kind: 'pile-up', length: 150, callbacks: 30, context: 'S' }]);
  });

  test('the first of which is a block of its own leave the other time to the drain', () => {
    const l = loop();
    l.message(7, 120, S).message(7, 0).message(7, 0).reaction(110, S);
    expect(reported(l)).toEqual([
      { kind: 'callback', length: 120, callbacks: 1, context: 'S' },
      { kind: 'microtasks', length: 110, callbacks: 2, context: 'S' },
    ]);
  });
});

describe('iterations', () => {
  test('that begin soon after another one are known', () => {
    const l = loop();
    l.callback(0.05).nextIteration();
    const start = l.clock.now();
    l.callback(60).callback(60);
    expect(reported(l)).toMatchObject([{ kind: 'pile-up', length: 120, callbacks: 2 }]);
    expect(l.blocks[0]?.start).toBe(start);
  });

  test('that begin soon after another one do not include what came before them', () => {
    const l = loop();
    l.callback(0.05).nextIteration();
    l.callback(60).nextIteration();
    l.callback(60);
    expect(reported(l)).toEqual([]);
  });

  test('several callbacks of one iteration pile up', () => {
    const l = loop();
    for (let i = 0; i < 15; i++) l.callback(8, contextOf(`r${i}`));
    expect(reported(l)).toMatchObject([{ kind: 'pile-up', length: 120, callbacks: 15 }]);
  });

  test('the same callbacks in iterations of their own do not', () => {
    const l = loop();
    for (let i = 0; i < 15; i++) l.callback(8, contextOf(`r${i}`)).nextIteration();
    expect(reported(l)).toEqual([]);
  });

  test('two blocks in consecutive iterations without a wait between them stay two', () => {
    const l = loop();
    l.callback(60).callback(60).nextIteration().callback(70).callback(70);
    expect(reported(l).map((b) => b.length)).toEqual([120, 140]);
  });

  test('what ran after a wait, without hooks, is where samples saw it, with its CPU time', () => {
    const l = loop();
    const start = l.clock.now() + 300;
    l.callback(1);
    l.clock.wait(300);
    l.withoutHooks(140).sample(ROOT_CONTEXT, 'render').withoutHooks(10);
    expect(reported(l)).toMatchObject([{ kind: 'microtasks', length: 151 }]);
    expect(l.blocks[0]?.cpu).toBe(151);
    // To within the distance of samples.
    expect(Math.abs((l.blocks[0]?.start ?? 0) - start)).toBeLessThanOrEqual(10);
  });

  test('what making a block takes is no part of the next one', () => {
    const l = loop();
    l.isBlock = () => {
      l.clock.run(7);
      return true;
    };
    l.callback(1).withoutHooks(100).nextIteration().callback(120);
    l.callback(1).withoutHooks(100).callback(110).nextIteration(20).callback(100);
    expect(reported(l).map(({ kind, length }) => [kind, length])).toEqual([
      ['microtasks', 101],
      ['callback', 120],
      ['microtasks', 101],
      ['callback', 110],
      ['callback', 100],
    ]);
  });

  test('what the loop waits for inside an iteration parts it in two', () => {
    const l = loop();
    l.callback(60);
    l.clock.wait(500);
    l.callback(60);
    expect(reported(l)).toEqual([]);
  });

  test('a block ends where the wait begins', () => {
    const l = loop();
    l.callback(1).reaction(150);
    const end = l.clock.now();
    l.clock.turn();
    l.clock.wait(3000);
    l.callback(1);
    expect(l.blocks).toMatchObject([{ kind: 'microtasks', end }]);
  });

  test.each([
    ['a reaction', (l: FakeLoop) => l.reaction(5)],
    ['a tick', (l: FakeLoop) => l.tick(5)],
  ])('a wait before %s that no callback is around is not part of a block', (_name, drain) => {
    const waited = loop();
    waited.callback(1).nextIteration(600);
    expect(reported(drain(waited))).toEqual([]);

    const worked = loop();
    worked.callback(90).nextIteration(600);
    expect(reported(drain(worked).withoutHooks(20)).map(({ length }) => length)).toEqual([115]);
  });

  test('one long task among small ones is not a pile-up', () => {
    const l = loop();
    l.callback(20).callback(2).reaction(150, contextOf('R')).callback(20);
    expect(reported(l)).toEqual([{ kind: 'microtasks', length: 152, callbacks: 1, context: 'R' }]);
  });

  test('what is left beside a long task piles up if it reaches the threshold by itself', () => {
    const l = loop();
    l.callback(55).callback(55).callback(150).callback(30);
    expect(reported(l).map(({ kind, length }) => [kind, length])).toEqual([
      ['callback', 150],
      ['pile-up', 110],
    ]);
  });

  test('iterations shorter than the grain are taken together, and add no more than that to a block', () => {
    const l = loop();
    for (let i = 0; i < 10; i++) l.callback(0.0025).nextIteration();
    l.callback(150, contextOf('C'));
    expect(reported(l)).toEqual([{ kind: 'callback', length: 150, callbacks: 1, context: 'C' }]);
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
    for (let i = 0; i < 15; i++) l.callback(8, a);
    expect(underWay(l)).toEqual({ length: 120, context: 'a' });
  });

  test('is none below the threshold, with the running callback or without', () => {
    const l = loop();
    for (let i = 0; i < 12; i++) l.callback(8, a);
    expect(underWay(l)).toBeUndefined();
  });

  test('is none if it was reported', () => {
    const l = loop().callback(150, a).callback(20, a);
    expect(underWay(l)).toBeUndefined();
    expect(l.blocks).toHaveLength(1);
  });

  test('is none in the next iteration', () => {
    const l = loop();
    for (let i = 0; i < 15; i++) l.callback(8, a);
    l.nextIteration(1);
    expect(underWay(l)).toBeUndefined();
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

  test('of many it goes to none: no trace ran for half of it', () => {
    expect(pileUp(loop(), Array(15).fill(8))).toEqual([{ length: 120, context: undefined }]);
    // A heavy request, and the cheap ones that had queued.
    const queued = [55, ...Array(15).fill(4)];
    expect(pileUp(loop(), queued)).toEqual([{ length: 115, context: undefined }]);
  });

  test('it goes to what ran most of it, although its span starts later', () => {
    expect(pileUp(loop(), [8, 99, 8])).toMatchObject([{ context: 'r1' }]);
  });

  test('one that ran longest of many is not if its span would hide more than a quarter', () => {
    expect(pileUp(loop(), [50, 90, 30])).toMatchObject([{ context: undefined }]);
    expect(pileUp(loop(), [30, 90, 30])).toMatchObject([{ context: 'r1' }]);
  });

  test('it does not go to what happened to run a moment at its beginning', () => {
    const l = loop();
    const old = contextOf('old request', EPOCH);
    const exporting = old.setValue(
      createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING'),
      true,
    );
    l.callback(() => {
      l.clock.run(6);
      l.scope(old, () => {
        l.scope(exporting, 0.5);
        l.clock.run(0.5);
      });
    });
    for (let i = 0; i < 13; i++) {
      const context = contextOf(`r${i}`, EPOCH + l.clock.now());
      l.callback(() => l.scope(context, i === 0 ? 90 : 4));
    }
    expect(reported(l)).toMatchObject([{ kind: 'pile-up', context: 'r0' }]);
  });

  test('one that could show less than the threshold of the block does not get it', () => {
    expect(pileUp(loop(), [6, 6, 6, 6, 6, 90])).toMatchObject([{ context: undefined }]);
  });
});

describe('what reaches the threshold by a suspension only', () => {
  /** 80 ms of each scope are its own. */
  const suspended = () => {
    const l = new FakeLoop(100).primed();
    l.isBlock = ({ start, end }) => end - start >= 150;
    return l;
  };

  test('a scope: its time is that of the callback around it, which has more of its own', () => {
    const l = suspended();
    l.callback(() => {
      l.scope(contextOf('request'), 120);
      l.clock.run(75);
    });
    expect(l.settle().map(summary)).toEqual([
      { kind: 'callback', length: 195, callbacks: 1, context: 'request' },
    ]);
  });

  test('a callback: its time is that of the iteration, and it votes for what that is attributed to', () => {
    const l = suspended();
    l.callback(() => l.scope(contextOf('A'), 120), contextOf('A'));
    l.callback(40, contextOf('B'));
    expect(l.settle().map(summary)).toEqual([
      { kind: 'pile-up', length: 160, callbacks: 2, context: 'A' },
    ]);
  });

  test('nothing is reported if nothing around it has more, and what comes next is found', () => {
    const l = suspended();
    l.callback(() => l.scope(contextOf('A'), 120), contextOf('A'));
    expect(l.settle()).toEqual([]);
    expect(l.memory.progress.get(Progress.reportedUntil)).toBe(0);
    l.callback(() => l.scope(contextOf('B'), 200), contextOf('B'));
    expect(l.settle().map(summary)).toEqual([
      { kind: 'callback', length: 200, callbacks: 1, context: 'B' },
    ]);
  });
});

describe('what is not a block', () => {
  test('startup', () => {
    const l = new FakeLoop();
    l.clock.started = false;
    l.callback(() => l.scope(contextOf('main'), 500));
    l.clock.run(700);
    l.clock.started = true;
    expect(reported(l)).toEqual([]);
  });

  test('the remainder of the callback in which detection was turned on', () => {
    const l = new FakeLoop();
    l.clock.run(300);
    expect(l.ledger.stack.leave()).toBe(-1);
    l.tick(1);
    expect(reported(l)).toEqual([]);
  });

  test('a first callback right after the main script counts, although the loop has not turned yet', () => {
    const l = new FakeLoop();
    l.clock.loops = 0;
    l.callback(150, contextOf('first timer'));
    expect(reported(l)).toMatchObject([{ kind: 'callback', length: 150, context: 'first timer' }]);
  });

  test('waiting, of any length', () => {
    const l = loop();
    for (let i = 0; i < 5; i++) l.callback(1).nextIteration(100_000);
    expect(reported(l)).toEqual([]);
  });
});

test('a worker thread, whose loop start is never known, is watched from its second iteration on', () => {
  const l = new FakeLoop();
  l.clock.started = false;
  l.callback(1).nextIteration(10).callback(1).nextIteration(10).callback(150);
  expect(reported(l)).toMatchObject([{ kind: 'callback', length: 150 }]);
});

test('own work counts as such, and what a scope in it blocks as well', () => {
  const l = loop();
  l.callback(() => {
    l.ledger.asOwnWork(() => {
      l.scope(contextOf('processor'), 150);
      l.clock.run(120);
    });
  });
  expect(l.settle().map(({ isOwnWork, start, end }) => [isOwnWork, end - start])).toEqual([
    [true, 150],
    [true, 120],
  ]);
  l.callback(150);
  expect(l.settle()[2]?.isOwnWork).toBe(false);
});

test('what reaches the threshold with reporting of this package only is not the application’s', () => {
  const l = loop();
  const blockWithReport = (millis: number) => {
    l.callback(() => {
      l.clock.run(millis);
      l.ledger.asOwnWork(() => l.clock.run(60));
    });
    return l.settle().map(({ isOwnWork, start, end }) => [isOwnWork, end - start]);
  };
  expect(blockWithReport(99)).toEqual([[true, 159]]);
  expect(blockWithReport(100).slice(1)).toEqual([[false, 160]]);
});

test('reporting of this package that had no CPU is not the application’s with more around it', () => {
  const l = loop();
  l.isBlock = ({ end, start }) => end - start > 120; // the rest was a suspension
  l.callback(() => {
    l.ledger.asOwnWork(() => l.clock.run(110));
    l.clock.run(30);
  });
  expect(l.settle().map(({ isOwnWork, start, end }) => [isOwnWork, end - start])).toEqual([
    [true, 140],
  ]);
});

test('a lost after does not stop detection for longer than a beat', () => {
  const l = loop();
  l.ledger.stack.enter();
  l.ledger.before(0);
  // The beat's own callback: nested, as far as the ledger knows.
  expect(l.ledger.stack.enter()).toBe(false);
  l.ledger.beat();
  expect(l.ledger.stack.leave()).toBe(0);
  l.ledger.after();
  l.callback(150);
  expect(reported(l).map((b) => b.length)).toContain(150);
});

test('the loop runs out of work: what was open is closed, without the time it waited last', () => {
  const l = loop();
  l.callback(1).reaction(150, contextOf('R'));
  l.clock.wait(500);
  l.ledger.finish();
  expect(l.blocks.map(summary)).toEqual([
    { kind: 'microtasks', length: 151, callbacks: 1, context: 'R' },
  ]);
  l.ledger.finish();
  expect(l.blocks).toHaveLength(1);
});

test('the SDK shuts down in a callback: what has run of it is closed, and what still runs is not lost', () => {
  const l = loop();
  l.callback(() => {
    l.clock.run(150);
    l.ledger.finish();
    l.clock.run(120);
  }, contextOf('S'));
  expect(reported(l)).toEqual([
    { kind: 'callback', length: 150, callbacks: 1, context: 'S' },
    { kind: 'callback', length: 120, callbacks: 1, context: 'S' },
  ]);
});

test('a wait for work inside of what runs is no block, what ran before and after it may be one', () => {
  const l = loop();
  l.callback(() => {
    l.scope(contextOf('task'), 130);
    l.ledger.finish();
    const waits = [4000, 60_000];
    for (const millis of waits) {
      l.clock.run(millis);
      l.ledger.endWait();
      l.scope(contextOf('next task'), 110);
      l.clock.run(20);
      l.ledger.finish();
    }
    l.clock.run(5000);
    l.ledger.endWait();
    l.clock.run(50);
  });
  expect(reported(l).map(({ length, context }) => [length, context])).toEqual([
    [130, 'task'],
    [110, 'next task'],
    [110, 'next task'],
  ]);
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
          l.callback(0);
        };
        const play = (s: Step): void => {
          switch (s.type) {
            case 'run':
              l.clock.run(s.millis);
              return;
            case 'wait':
              // The loop waits, and turns, only when nothing runs, and an iteration waits once.
              if (depth === 0 && s.millis > 0) {
                l.callback(0);
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
        const begin = l.clock.now();
        l.callback(0);
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

  test('give the parent of promise reactions without hooks', () => {
    const l = loop();
    l.callback(1).withoutHooks(60);
    capture(l, 'chain');
    expect(reported(l.withoutHooks(60))).toEqual([
      { kind: 'microtasks', length: 121, callbacks: 1, context: 'chain' },
    ]);
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

    test('give no parent if the span started too late to show the block', () => {
      const reported = captured((l) => {
        const late = contextOf('late', l.clock.epoch(l.clock.now()) + 50);
        l.clock.run(60);
        l.sample(late, 'hash');
        l.clock.run(90);
      });
      expect(reported).toEqual([{ ...block, context: 'request' }]);
    });
  });

  test('in a scope with others inside it give no parent', () => {
    const l = loop();
    l.callback(() =>
      l.scope(contextOf('request'), () => {
        l.clock.run(50);
        const inner = contextOf('inner');
        l.scope(inner, () => {
          l.clock.run(20);
          l.sample(inner, 'hash');
          l.clock.run(30);
        });
        l.clock.run(50);
      }),
    );
    expect(reported(l)).toEqual([
      { kind: 'callback', length: 150, callbacks: 1, context: 'request' },
    ]);
  });

  test('in a callback give the span that was entered without the context manager', () => {
    const l = loop();
    l.callback(() => {
      l.clock.run(60);
      capture(l, 'handler');
      l.clock.run(90);
    }, contextOf('request'));
    expect(reported(l)).toEqual([
      { kind: 'callback', length: 150, callbacks: 1, context: 'handler' },
    ]);
  });

  test('are forgotten with the busy period', () => {
    const l = loop();
    l.callback(60);
    capture(l, 'a');
    l.nextIteration(5).callback(150);
    expect(l.settle().map(({ samples }) => samples)).toEqual([[]]);
  });

  test('come too late for the busy period before, and for a loop that waits', () => {
    const l = loop();
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
    l.callback(10);
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

  test('during startup there is nothing to capture', () => {
    const l = new FakeLoop(100);
    expect(busyPeriodOf(l)).toBe(0);
    l.clock.started = false;
    l.callback(500);
    expect(busyPeriodOf(l)).toBe(0);
  });

  test.each([
    [
      'a callback',
      (l: FakeLoop, takeSample: () => void) =>
        l.callback(() => {
          l.clock.run(150);
          takeSample();
        }),
      'callback',
    ],
    [
      'promise reactions',
      (l: FakeLoop, takeSample: () => void) => {
        l.callback(10).withoutHooks(150);
        takeSample();
      },
      'microtasks',
    ],
    [
      'many callbacks',
      (l: FakeLoop, takeSample: () => void) => {
        for (let i = 0; i < 5; i++) l.callback(40);
        l.callback(() => takeSample());
      },
      'pile-up',
    ],
  ])('what is known of a block that has not ended: %s', (_what, run, kind) => {
    const l = loop();
    let ongoing: OngoingBlock | undefined;
    run(l, () => {
      ongoing = l.ledger.ongoing();
    });
    expect(ongoing?.kind).toBe(kind);
    expect(l.settle()[0]).toMatchObject({ kind, start: ongoing?.start });
  });

  test('an ongoing block begins where the one before it in the same callback ended', () => {
    const l = loop();
    l.callback(() => {
      l.scope(contextOf('A'), 500);
      const end = l.clock.now();
      l.clock.run(200);
      expect(l.ledger.ongoing().start).toBe(end);
    });
  });
});

describe('hooks on demand', () => {
  /** Startup is over, and a tick was 0 ms ago. */
  const unhooked = (threshold = 100) => {
    const l = new FakeLoop(threshold, false).ownTick();
    l.ledger.watch(true);
    return l;
  };
  /** The watchdog thread has marked the busy period as old. */
  const mark = (l: FakeLoop) => {
    const { words } = l.memory;
    Atomics.store(words, Word.markedBusyPeriod, Atomics.load(words, Word.busyPeriod));
  };
  /** A stack sample arms the hooks. */
  const sampled = (l: FakeLoop, context: Context, isInCallback = true) => {
    mark(l);
    l.sample(context).arm(isInCallback);
  };
  const found = (l: FakeLoop) => l.ownTick().nextIteration(5).ownTick().blocks.map(summary);

  test('while nothing blocks, a scope reads the clock once, a tick once', () => {
    const l = unhooked();
    const now = jest.spyOn(l.clock, 'now');
    l.scope(contextOf('A'), 1);
    expect(now).toHaveBeenCalledTimes(1);
    l.ownTick();
    expect(now).toHaveBeenCalledTimes(2);
  });

  test('a wait that a tick ends is no block, however long', () => {
    const l = unhooked();
    for (let i = 0; i < 10; i++) l.nextIteration(1000).withoutHooks(20).ownTick();
    expect(found(l)).toEqual([]);
  });

  test('the watchdog thread is given each tick as the start of a busy period', () => {
    const l = unhooked();
    l.nextIteration(50).withoutHooks(1).ownTick();
    expect(busyPeriodOf(l)).toBe(l.clock.now());
  });

  test('a scope that it marked is exact', () => {
    const l = unhooked();
    l.nextIteration(30).withoutHooks(7);
    const start = l.clock.now();
    l.scope(contextOf('A'), () => {
      l.clock.run(60);
      mark(l);
      l.clock.run(70);
    });
    expect(found(l)).toEqual([{ kind: 'callback', length: 130, callbacks: 1, context: 'A' }]);
    expect(l.blocks[0]?.start).toBe(start);
  });

  test('the callback in which they are armed begins after the wait, and ends where it ends', () => {
    const l = unhooked();
    l.nextIteration(30);
    const start = l.clock.now();
    l.callback(() => {
      l.clock.run(60);
      sampled(l, contextOf('A'));
      l.clock.run(70);
    }, contextOf('A'));
    l.callback(20).ownTick();
    expect(found(l)).toEqual([{ kind: 'callback', length: 130, callbacks: 1, context: 'A' }]);
    expect(l.blocks[0]?.start).toBe(start);
  });

  test('what drains after it is in the block of the task', () => {
    const l = unhooked();
    l.nextIteration(30).callback(() => {
      l.clock.run(60);
      sampled(l, contextOf('A'));
      l.clock.run(5);
    }, contextOf('A'));
    l.withoutHooks(70).callback(20);
    expect(found(l)).toEqual([{ kind: 'microtasks', length: 135, callbacks: 1, context: 'A' }]);
  });

  test('of a promise reaction no end comes: its task ends with the next callback', () => {
    const l = unhooked();
    l.nextIteration(30).withoutHooks(60);
    sampled(l, contextOf('A'), false);
    l.withoutHooks(70).callback(20);
    expect(found(l)).toEqual([{ kind: 'microtasks', length: 130, callbacks: 1, context: 'A' }]);
  });

  test('a tick of Node.js in which they are armed has its task as the block', () => {
    const l = unhooked();
    l.nextIteration(30);
    l.tick(() => {
      l.clock.run(60);
      sampled(l, contextOf('A'));
      l.clock.run(70);
    }, contextOf('A'));
    expect(found(l)).toEqual([{ kind: 'microtasks', length: 130, callbacks: 1, context: 'A' }]);
  });

  test('a nested callback in which they are armed has the block, if its context has a span', () => {
    const l = unhooked();
    l.nextIteration(30);
    l.callback(() => {
      l.active = contextOf('pooled');
      l.clock.run(60);
      sampled(l, l.active);
      l.clock.run(50);
      // The end of what was entered before the hooks were armed.
      l.ledger.stack.leave();
      l.ledger.afterUnknown(RESOURCE_SCOPE);
      l.active = contextOf('another request');
      l.clock.run(50);
    });
    expect(found(l)).toEqual([{ kind: 'callback', length: 110, callbacks: 1, context: 'pooled' }]);
  });

  test('callbacks before they are armed are in the pile-up, and not in its count', () => {
    const l = unhooked();
    l.nextIteration(30);
    for (let i = 0; i < 15; i++) {
      l.callback(
        () => {
          l.clock.run(4);
          if (i === 7) sampled(l, contextOf('H'));
          l.clock.run(4);
        },
        contextOf(`r${i}`),
      );
    }
    expect(found(l)).toEqual([{ kind: 'pile-up', length: 120, callbacks: 8, context: undefined }]);
  });

  test.each([
    ['nobody', 'answered at once', 0, undefined],
    ['what it finds', 'asked for in it, and answered late', 40, 'F'],
  ])(
    'what ran before a late stack sample is the time of %s, if it was %s',
    (_, __, late, context) => {
      const l = unhooked();
      l.nextIteration(30);
      for (let i = 0; i < 8; i++) l.callback(10, contextOf(`r${i}`));
      l.callback(() => {
        l.clock.run(50);
        mark(l);
        l.sample(contextOf('F')).arm(true, false, l.clock.now() - late);
        l.clock.run(60);
      }, contextOf('F'));
      expect(found(l)).toMatchObject([{ length: 190, context }]);
    },
  );

  test('with hooks, an iteration lasts from wait to wait, and not from tick to tick', () => {
    const l = unhooked();
    l.arm(false);
    l.nextIteration(30).callback(60).ownTick().callback(60);
    expect(l.nextIteration(5).callback(0).ownTick().blocks.map(summary)).toEqual([
      { kind: 'pile-up', length: 120, callbacks: 2, context: undefined },
    ]);
  });

  test('when they are switched off, what ran until then is accounted for, once', () => {
    const l = unhooked();
    l.arm(false);
    l.nextIteration(30).callback(60).callback(50).ownTick(false);
    expect(l.blocks.map(summary)).toMatchObject([{ kind: 'pile-up', length: 110, callbacks: 2 }]);
    l.withoutHooks(60);
    expect(found(l)).toHaveLength(1);
  });

  test('without a stack sample, the kind of a block is not known', () => {
    const l = unhooked();
    l.nextIteration(30).withoutHooks(150);
    expect(found(l)).toEqual([{ kind: undefined, length: 150, callbacks: 1, context: undefined }]);
  });

  test('what has been reported of a scope is not reported again by the tick', () => {
    const l = unhooked();
    l.nextIteration(30).withoutHooks(40);
    l.scope(contextOf('A'), () => {
      l.clock.run(60);
      mark(l);
      l.clock.run(70);
    });
    l.withoutHooks(110);
    expect(found(l)).toMatchObject([
      { kind: 'callback', length: 130, context: 'A' },
      { kind: undefined, length: 110, context: undefined },
    ]);
  });

  test('a process that ends in the block has it reported', () => {
    const l = unhooked();
    l.nextIteration(30);
    l.callback(() => {
      l.clock.run(60);
      sampled(l, contextOf('A'));
      l.clock.run(70);
      l.ledger.finish();
    }, contextOf('A'));
    expect(l.blocks.map(summary)).toMatchObject([{ kind: 'callback', length: 130, context: 'A' }]);
  });

  test('an ongoing block begins after the wait', () => {
    const l = unhooked();
    l.nextIteration(30);
    const start = l.clock.now();
    l.withoutHooks(120);
    expect(l.ledger.ongoing()).toMatchObject({ kind: undefined, start, callbacks: 1 });
    l.arm();
    expect(l.ledger.ongoing()).toMatchObject({ kind: 'callback', start });
    l.resourceType = 'PROMISE';
    expect(l.ledger.ongoing()).toMatchObject({ kind: 'microtasks', start });
  });

  test('the lag of a beat is what did not wait since it was due', () => {
    const l = unhooked();
    const due = l.clock.now() + 20;
    l.nextIteration(21).ownTick();
    expect(l.ledger.waitedSince(due, l.ledger.beat())).toBe(1);
    const next = l.clock.now() + 20;
    l.nextIteration(15).withoutHooks(50).ownTick();
    expect(l.ledger.waitedSince(next, l.ledger.beat())).toBe(0);
  });
});
