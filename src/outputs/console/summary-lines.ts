/** The summary as lines for people. */
import { codeAt, type Paint } from '../../core/emit/block-line.ts';
import { printable } from '../../support/escape.ts';
import { causeOf, count, duration, percent } from '../../support/numbers.ts';
import { runDelayText } from '../summary/advice.ts';
import { type Quantiles, waitsOf } from '../summary/requests.ts';
import type { BlockSummary, BlockTotals, PeriodSummary, PlaceSummary } from '../summary/summary.ts';

/** Rows of a period; what is past them is one more row. */
export const SHOWN = 10;

/**
 * Of a summary with at most {@link SHOWN} places. The first line counts all blocks. The others are
 * the places that made requests wait longest, then those that blocked longest, and the routes whose
 * requests waited.
 */
export function summaryLines(
  summary: BlockSummary,
  cwd: string,
  paint: Paint,
  thresholdMillis: number,
): string[] {
  const { startUp, blocks, elapsedMillis } = summary;
  const delay = runDelayText(summary);
  const none = `no block of ${duration(thresholdMillis)} or longer in ${duration(elapsedMillis)}`;
  return [
    `event-loop-blocked: ${blocks === 0 ? none : periodOf(summary)}`,
    ...rowsOf(summary, cwd, paint),
    ...operationLines(summary),
    ...routeLines(summary),
    ...(startUp === undefined ? [] : [startUpOf(startUp), ...rowsOf(startUp, cwd, paint)]),
    ...(delay === undefined ? [] : [delay]),
  ];
}

/** One alone is that of the lines above. */
function operationLines({ operations = [] }: BlockSummary): string[] {
  if (operations.length < 2) return [];
  const rows = operations.map(({ operation, blocks, totalMillis }) => {
    return `  ${printable(operation)}: ${count(blocks, 'block')}, ${duration(totalMillis)}`;
  });
  return ['routes that blocked most:', ...rows];
}

/** `2 blocks, 1.5 s of 10.0 s (15.0 %)`. */
function periodOf({ blocks, totalMillis, elapsedMillis, share }: PeriodSummary): string {
  const time = `${duration(totalMillis)} of ${duration(elapsedMillis)}`;
  return `${count(blocks, 'block')}, ${time} (${percent(share)})`;
}

function startUpOf(startUp: NonNullable<BlockSummary['startUp']>): string {
  const { loadMillis, blocks } = startUp;
  const parts = [
    loadMillis !== undefined && `${duration(loadMillis)} until the event loop first turned`,
    blocks > 0 && `${periodOf(startUp)} until a server listened`,
  ];
  return `at start-up: ${parts.filter((part) => part !== false).join('; ')}`;
}

function rowsOf(period: PeriodSummary, cwd: string, paint: Paint): string[] {
  const { places, otherPlaces: others } = period;
  const rows = places.map((place) => ({
    ...cellsOf(place),
    place: withWaits(placeOf(place, cwd, paint), waitsOf(place)),
  }));
  if (others !== undefined) {
    const place = withWaits('other functions', waitsOf(others, 'them'));
    rows.push({ ...cellsOf(others), place });
  }
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
  blocks: count(blocks, 'block'),
  longest: duration(longestMillis),
});

const withWaits = (place: string, waits: string | undefined) =>
  waits === undefined ? place : `${place}, ${waits}`;

/**
 * The routes whose requests waited: `GET /list: 41 of 812, p50 12 ms (11 ms), p99 480 ms (35 ms),
 * longest 1.20 s (60 ms)`. If nothing blocked, all of them, for who has measured something else.
 */
function routeLines({ blocks, routes = [], otherRoutes }: BlockSummary): string[] {
  const all = [...routes, ...(otherRoutes ? [{ route: 'other routes', ...otherRoutes }] : [])];
  const waited = all.filter(({ waitedRequests }) => waitedRequests > 0);
  const hasWaited = waited.length > 0;
  if (!hasWaited && blocks > 0) return [];
  const lines = (hasWaited ? waited : all).map((times) => {
    const { route, count, waitedRequests, withQueue, withoutStalls } = times;
    const both = (name: keyof Quantiles) =>
      duration(withQueue[name]) + (hasWaited ? ` (${duration(withoutStalls[name])})` : '');
    const requests = hasWaited ? `${waitedRequests} of ${count}` : count;
    const of = `p50 ${both('p50Millis')}, p99 ${both('p99Millis')}, longest ${both('maxMillis')}`;
    return `  ${printable(route)}: ${requests}, ${of}`;
  });
  const title = hasWaited
    ? 'requests that waited (in brackets: without the wait):'
    : 'requests, none of which waited for the event loop:';
  return lines.length === 0 ? [] : [title, ...lines];
}

function placeOf(place: PlaceSummary, cwd: string, paint: Paint): string {
  const { functionName, ...position } = place;
  const why = place.unknown === undefined ? '' : ` (${place.unknown})`;
  const code =
    functionName === undefined
      ? `unknown code${why}`
      : codeAt({ functionName, ...position }, cwd, paint);
  const cause = causeOf(place.cause, place.gcMillis / place.totalMillis);
  return cause === undefined ? code : `${code}, ${paint.aside(cause)}`;
}
