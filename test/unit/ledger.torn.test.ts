/**
 * The ledger under event sequences that Node.js should not give, and now and then does: a hook that
 * is called too often or not at all, scopes that end when others have, a clock that does not move.
 * What the loop really did is known, so whatever is reported can be compared with it.
 */
import { ROOT_CONTEXT } from '@opentelemetry/api';
import fc from 'fast-check';
import { contextOf, FakeLoop } from './support/fake-loop.ts';

const THRESHOLD_MILLIS = 100;
/** Sums of fake times are doubles. */
const ROUNDING_MILLIS = 1e-6;

/** What the hooks get of a callback that really runs from its beginning to its end. */
const TEARS = ['whole', 'no before', 'no after', 'neither', 'before twice', 'after twice'] as const;

type Step =
  | {
      type: 'callback';
      tear: (typeof TEARS)[number];
      millis: number;
      inner: Step[];
    }
  | { type: 'scope'; closing: 'inside' | 'late'; millis: number; inner: Step[] }
  | { type: 'run' | 'wait' | 'idle' | 'turn' | 'beat' | 'own' | 'end' | 'ask'; millis: number };

// Mostly short, so that blocks are made of many steps; often 0: the clock does not move.
const millis = fc.oneof(
  fc.constant(0),
  fc.integer({ min: 1, max: 40 }),
  fc.integer({ min: 90, max: 130 }),
  fc.double({ min: 0, max: 1, noNaN: true }),
);
const { step } = fc.letrec<{ step: Step }>((tie) => ({
  step: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({
      type: fc.constantFrom(
        'run' as const,
        'wait' as const,
        'idle' as const,
        'turn' as const,
        'beat' as const,
        'own' as const,
        'end' as const,
        'ask' as const,
      ),
      millis,
    }),
    fc.record({
      type: fc.constant('callback' as const),
      tear: fc.constantFrom(...TEARS),
      millis,
      inner: fc.array(tie('step'), { maxLength: 4 }),
    }),
    fc.record({
      type: fc.constant('scope' as const),
      closing: fc.constantFrom('inside' as const, 'late' as const),
      millis,
      inner: fc.array(tie('step'), { maxLength: 4 }),
    }),
  ),
}));

/** Plays steps, and remembers how long the loop waited. */
class TornLoop extends FakeLoop {
  waited = 0;
  /** What of it is too short to be noticed, at most. */
  shortWaits = 0;
  #depth = 0;
  #late: (() => void)[] = [];

  play(steps: readonly Step[]): this {
    for (const each of steps) this.#play(each);
    return this;
  }

  #wait(millis: number): void {
    this.clock.wait(millis);
    this.waited += millis;
    this.shortWaits += Math.min(millis, 0.25);
  }

  #play(each: Step): void {
    switch (each.type) {
      case 'run':
        this.clock.run(each.millis);
        return;
      // The loop turns and waits only when nothing runs; whether the ledger has noticed is another
      // matter.
      case 'wait':
        if (this.#depth > 0) return;
        this.nextIteration();
        this.#wait(each.millis);
        return;
      case 'idle': // in the middle of an iteration
        if (this.#depth === 0) this.#wait(each.millis);
        return;
      case 'turn':
        if (this.#depth === 0) this.nextIteration();
        return;
      case 'beat':
        this.ledger.waitedSince(this.clock.now(), this.clock.now());
        return;
      case 'own':
        this.ledger.asOwnWork(() => this.clock.run(each.millis));
        return;
      case 'end':
        if (this.#depth === 0) this.ledger.finish();
        return;
      case 'ask':
        this.ledger.ongoing(false);
        this.ledger.ongoingPileUp();
        this.sample(contextOf('sampled'));
        return;
      case 'callback':
        this.#callback(each);
        return;
      case 'scope':
        this.#scope(each);
        return;
    }
  }

  #callback({ tear, millis, inner }: Extract<Step, { type: 'callback' }>): void {
    const befores =
      tear === 'before twice' ? 2 : tear === 'no before' || tear === 'neither' ? 0 : 1;
    const afters = tear === 'after twice' ? 2 : tear === 'no after' || tear === 'neither' ? 0 : 1;
    for (let i = 0; i < befores; i++) this.ledger.enter();
    this.#depth++;
    this.active = contextOf('callback');
    this.clock.run(millis);
    this.play(inner);
    this.#depth--;
    this.active = contextOf('callback');
    for (let i = 0; i < afters; i++) this.ledger.leave();
    this.active = ROOT_CONTEXT;
    if (this.#depth === 0) this.#endLateScopes();
  }

  /** Ends when its function does, or out of order: when the callback around it has run on. */
  #scope({ closing, millis, inner }: Extract<Step, { type: 'scope' }>): void {
    if (this.#depth === 0) return;
    const { voted } = this.ledger;
    const start = this.clock.now();
    const context = contextOf('scope');
    this.clock.run(millis);
    this.play(inner);
    const end = () => this.ledger.scope(context, start, voted);
    if (closing === 'inside') end();
    else this.#late.push(end);
  }

  #endLateScopes(): void {
    for (const end of this.#late.splice(0)) end();
  }
}

const steps = fc.array(step, { maxLength: 60 });

test('torn hooks: blocks never overlap, and are never longer than the loop was busy', () => {
  fc.assert(
    fc.property(steps, (played) => {
      const l = new TornLoop(THRESHOLD_MILLIS).primed();
      l.ownTick();
      const begin = l.clock.now();
      l.play(played);
      l.ownTick();
      const busy = l.clock.now() - begin - l.waited;
      const blocks = [...l.settle()].sort((a, b) => a.start - b.start);

      let reported = 0;
      for (const [i, block] of blocks.entries()) {
        const length = block.end - block.start;
        reported += length;
        expect(length).toBeGreaterThanOrEqual(THRESHOLD_MILLIS - ROUNDING_MILLIS);
        expect(block.start).toBeGreaterThanOrEqual(begin - ROUNDING_MILLIS);
        expect(block.end).toBeLessThanOrEqual(l.clock.now());
        expect(block.callbacks).toBeGreaterThanOrEqual(1);
        const next = blocks[i + 1];
        if (next !== undefined)
          expect(next.start).toBeGreaterThanOrEqual(block.end - ROUNDING_MILLIS);
      }
      // A wait shorter than the grain, in the middle of an iteration, is not noticed: each busy
      // period may have one.
      expect(reported).toBeLessThanOrEqual(busy + l.shortWaits + ROUNDING_MILLIS);
    }),
    { numRuns: 3000 },
  );
});

test('torn or not: after the next beat a block is found again, once and with its length', () => {
  fc.assert(
    fc.property(steps, (played) => {
      const l = new TornLoop(THRESHOLD_MILLIS).primed().play(played);
      l.settle();
      l.blocks.length = 0;
      l.nextIteration(5).callback(150, contextOf('next'));
      const [block, ...more] = l.settle();
      expect(more).toEqual([]);
      expect(block).toMatchObject({ kind: 'callback', callbacks: 1 });
      expect(Number(block?.end) - Number(block?.start)).toBeCloseTo(150);
    }),
    { numRuns: 1000 },
  );
});

test('without hooks, blocks never overlap', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          run: millis,
          wait: millis,
          inScope: fc.boolean(),
          inner: millis,
          isSampled: fc.boolean(),
          isTick: fc.boolean(),
        }),
        { maxLength: 40 },
      ),
      (turns) => {
        const INTERVAL = 20;
        const l = new FakeLoop(THRESHOLD_MILLIS, false, INTERVAL);
        let due = Number.NaN;
        const boundary = () => {
          l.ownTick();
          l.ledger.waitedSince(due, l.clock.now());
          due = l.clock.now() + INTERVAL;
        };
        boundary();
        const begin = l.clock.now();
        let waited = 0;
        for (const { run, wait, inScope, inner, isSampled, isTick } of turns) {
          l.clock.turn();
          l.clock.wait(wait);
          waited += wait;
          const running = () => {
            l.clock.run(run);
            if (isSampled) l.sample(contextOf('sampled'), 'sampled');
          };
          if (inScope) l.scope(contextOf('outer'), running);
          else running();
          if (inner > 0) l.scope(contextOf('inner'), inner);
          if (isTick) boundary();
        }
        boundary();
        const blocks = [...l.blocks].sort((a, b) => a.start - b.start);
        let reported = 0;
        for (const [i, block] of blocks.entries()) {
          const length = block.end - block.start;
          reported += length;
          expect(length).toBeGreaterThanOrEqual(THRESHOLD_MILLIS - ROUNDING_MILLIS);
          const next = blocks[i + 1];
          if (next !== undefined)
            expect(next.start).toBeGreaterThanOrEqual(block.end - ROUNDING_MILLIS);
        }
        expect(reported).toBeLessThanOrEqual(l.clock.now() - begin - waited + ROUNDING_MILLIS);
      },
    ),
    { numRuns: 1000 },
  );
});
