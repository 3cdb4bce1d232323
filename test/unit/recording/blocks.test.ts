/**
 * Blocks of real applications and of the scenarios, as `recordFile` had them: what they are named
 * by. When a rule changes, the snapshot shows which blocks change. `npm run check -- explain
 * test/unit/recording/blocks.jsonl.gz` prints them, too; each line of the file is one block.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import type { Evidence as Recording } from '../../../src/core/emit/evidence.ts';
import { explain, outcomeOf } from './explain.ts';

const BLOCKS: (Recording & { app: string })[] = String(
  gunzipSync(readFileSync(join(__dirname, 'blocks.jsonl.gz'))),
)
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));

const explained = (recording: Recording) =>
  explain(recording) as ReturnType<typeof explain> & Recording['said'];

test('place, innermost function and cause of each', () => {
  const lines = BLOCKS.map((recording) => {
    const now = explained(recording);
    const shares = now.topFunctions?.map(
      ({ functionName, share }) => `${functionName} ${Math.round(share * 100)}%`,
    );
    const { nativeCall, code } = now;
    const more = [
      ...(nativeCall === undefined ? [] : [`in ${nativeCall.name}`]),
      ...(code?.requires === undefined ? [] : [`loads ${code.requires.split('/').pop()}`]),
      ...(shares ?? []),
    ];
    const millis = recording.durationMillis.toFixed(0);
    return [`${recording.app} ${millis} ms: ${outcomeOf(now, recording)}`, ...more].join('\n    ');
  });
  expect(`\n${lines.join('\n')}\n`).toMatchSnapshot();
});

/** Any of the blocks' samples, at any time, in a block of any length. */
const recordings: fc.Arbitrary<Recording> = fc.constantFrom(...BLOCKS).chain((recording) =>
  fc
    .record({
      durationMillis: fc.integer({ min: 1, max: 500 }),
      samples: fc.array(
        fc.record({
          time: fc.integer({ min: -50, max: 550 }),
          late: fc.option(fc.integer({ min: 0, max: 100 }), { nil: undefined }),
          at: fc.nat(),
        }),
        { maxLength: 12 },
      ),
    })
    .map(({ durationMillis, samples }) => ({
      ...recording,
      durationMillis,
      samples: samples.flatMap(({ time, late, at }) => {
        const sample = recording.samples[at % recording.samples.length];
        const requestedAt = late === undefined ? undefined : time - late;
        return sample === undefined ? [] : [{ ...sample, time, requestedAt }];
      }),
    })),
);

test('no millisecond counts twice, and none outside of the block', () => {
  fc.assert(
    fc.property(recordings, (recording) => {
      const { nativeTimeMillis = 0, gcInNativeTimeMillis = 0 } = explained(recording);
      expect(nativeTimeMillis).toBeLessThanOrEqual(recording.durationMillis + 0.000001);
      expect(gcInNativeTimeMillis).toBeLessThanOrEqual(nativeTimeMillis + 0.000001);
    }),
  );
});

test('the order of samples and of tables does not matter', () => {
  fc.assert(
    fc.property(recordings, fc.infiniteStream(fc.nat()), (recording, random) => {
      const shuffled = <Item>(items: readonly Item[]) =>
        items
          .map((item) => [random.next().value as number, item] as const)
          .sort(([a], [b]) => a - b)
          .map(([, item]) => item);
      const order = shuffled(recording.frames.map((_, i) => i));
      // Samples of one moment follow each other in the order of their requests only.
      const times = new Set(recording.samples.map(({ time }) => time));
      fc.pre(times.size === recording.samples.length);
      const other: Recording = {
        ...recording,
        collections: shuffled(recording.collections ?? []),
        frames: order.map((i) => recording.frames[i] as Recording['frames'][number]),
        samples: shuffled(
          recording.samples.map((sample) => ({
            ...sample,
            frames: sample.frames.map((i) => order.indexOf(i)),
          })),
        ),
      };
      expect(outcomeOf(explained(other), other)).toBe(outcomeOf(explained(recording), recording));
    }),
  );
});

test('what is said is bounded', () => {
  fc.assert(
    fc.property(recordings, (recording) => {
      const { topFunctions = [], code } = explained(recording);
      expect(topFunctions.length).toBeLessThanOrEqual(5);
      expect(code?.stackTrace.length ?? 0).toBeLessThanOrEqual(32_768);
      expect(code?.stackTrace.match(/^ +at /gm)?.length ?? 0).toBeLessThanOrEqual(128);
    }),
  );
});
