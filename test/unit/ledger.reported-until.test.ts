import { Progress } from '../../src/core/sample/shared-memory.ts';
import { contextOf, FakeLoop } from './support/fake-loop.ts';

/** The watchdog thread samples anew what runs from this mark on. */
const reportedUntil = (loop: FakeLoop) => loop.memory.progress.get(Progress.reportedUntil);

test('a block that has been reported is marked, and nothing else is', () => {
  const loop = new FakeLoop(100).primed();
  loop.callback(90).nextIteration(5);
  expect(reportedUntil(loop)).toBe(0);
  loop.callback(150);
  expect(reportedUntil(loop)).toBe(loop.clock.now());
  expect(loop.blocks).toHaveLength(1);
});

test('if what is left before it is reported later, the mark does not go back', () => {
  const loop = new FakeLoop(100).primed();
  let end = 0;
  loop.callback(() => {
    loop.clock.run(120);
    loop.scope(contextOf('inner'), 130);
    end = loop.clock.now();
    loop.clock.run(50);
  });
  expect(loop.blocks).toHaveLength(2);
  expect(reportedUntil(loop)).toBe(end);
  loop.nextIteration(5).callback(1);
  expect(reportedUntil(loop)).toBe(end);
});
