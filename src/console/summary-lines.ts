/** The summary as lines for people. */
import { codeAt, duration, type Paint } from './block-line.ts';
import type { BlockSummary, BlockTotals, PeriodSummary, PlaceSummary } from './summary.ts';

/** Rows of a period; what is past them is one more row. */
export const SHOWN = 10;

/** The first line counts all blocks, the others are the places that took most. */
export function summaryLines(summary: BlockSummary, cwd: string, paint: Paint): string[] {
  const { startUp } = summary;
  return [
    `event-loop-blocked: ${periodOf(summary)}`,
    ...rowsOf(summary, cwd, paint),
    ...(startUp === undefined ? [] : [startUpOf(startUp), ...rowsOf(startUp, cwd, paint)]),
  ];
}

/** `2 blocks, 1.5 s of 10.0 s (15.0 %)`. */
export function periodOf({ blocks, totalMillis, elapsedMillis, share }: PeriodSummary): string {
  if (blocks === 0) return `never, in ${duration(elapsedMillis)}`;
  const time = `${duration(totalMillis)} of ${duration(elapsedMillis)}`;
  return `${countOf(blocks)}, ${time} (${percent(share)})`;
}

export function startUpOf(startUp: NonNullable<BlockSummary['startUp']>): string {
  const { loadMillis, blocks } = startUp;
  const parts = [
    loadMillis !== undefined && `${duration(loadMillis)} until the event loop first turned`,
    blocks > 0 && `${periodOf(startUp)} until a server listened`,
  ];
  return `at start-up: ${parts.filter((part) => part !== false).join('; ')}`;
}

/** The places that are shown, and what all the others add up to. */
export function shownPlaces({ places, otherPlaces }: PeriodSummary): {
  shown: readonly PlaceSummary[];
  others: BlockTotals | undefined;
} {
  const hidden: readonly BlockTotals[] = [
    ...places.slice(SHOWN),
    ...(otherPlaces === undefined ? [] : [otherPlaces]),
  ];
  const others = hidden.reduce<BlockTotals | undefined>(
    (sum, totals) => ({
      blocks: (sum?.blocks ?? 0) + totals.blocks,
      totalMillis: (sum?.totalMillis ?? 0) + totals.totalMillis,
      longestMillis: Math.max(sum?.longestMillis ?? 0, totals.longestMillis),
      share: (sum?.share ?? 0) + totals.share,
    }),
    undefined,
  );
  return { shown: places.slice(0, SHOWN), others };
}

export const countOf = (blocks: number) => `${blocks} block${blocks === 1 ? '' : 's'}`;
export const percent = (share: number) => `${(100 * share).toFixed(1)} %`;

/** `GC 94 %`, `native`, `waiting`; nothing for JavaScript. */
export function causeOf({ cause, gcMillis, totalMillis }: PlaceSummary): string {
  if (cause === 'gc') return `GC ${Math.round((100 * gcMillis) / totalMillis)} %`;
  return cause === undefined || cause === 'javascript' ? '' : cause;
}

function rowsOf(period: PeriodSummary, cwd: string, paint: Paint): string[] {
  const { shown, others } = shownPlaces(period);
  const rows = shown.map((place) => ({ ...cellsOf(place), place: placeOf(place, cwd, paint) }));
  if (others !== undefined) rows.push({ ...cellsOf(others), place: 'other functions' });
  const width = (column: 'total' | 'share' | 'blocks' | 'longest') =>
    Math.max(...rows.map((row) => row[column].length));
  return rows.map(
    (row) =>
      `  ${row.total.padStart(width('total'))} (${row.share.padStart(width('share'))}) ` +
      `in ${row.blocks.padStart(width('blocks'))}, ` +
      `longest ${row.longest.padStart(width('longest'))}: ${row.place}`,
  );
}

const cellsOf = ({ totalMillis, share, blocks, longestMillis }: BlockTotals) => ({
  total: duration(totalMillis),
  share: percent(share),
  blocks: countOf(blocks),
  longest: duration(longestMillis),
});

function placeOf(place: PlaceSummary, cwd: string, paint: Paint): string {
  const { functionName, ...position } = place;
  const code =
    functionName === undefined ? 'unknown code' : codeAt({ functionName, ...position }, cwd, paint);
  const cause = causeOf(place);
  return cause === '' ? code : `${code}, ${paint.aside(cause)}`;
}
