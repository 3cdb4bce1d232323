/** The summary as Markdown, for a pull request or an agent. */
import { duration, printable } from '../report/block-line.ts';
import { code, codeCells, row } from '../summary/markdown-cells.ts';
import { waitsOf } from '../summary/requests.ts';
import type { BlockSummary, BlockTotals, PeriodSummary } from '../summary/summary.ts';
import {
  causeOf,
  percent,
  periodOf,
  SHOWN,
  shownPlaces,
  stalledRoutes,
  startUpOf,
} from './summary-lines.ts';

const HEADER = [
  '| total | share | blocks | longest | cause | function | place |',
  '| ----: | ----: | -----: | ------: | ----- | -------- | ----- |',
];
const HEADER_WITH_WAITS = [
  '| made others wait | total | share | blocks | longest | cause | function | place |',
  '| ---------------: | ----: | ----: | -----: | ------: | ----- | -------- | ----- |',
];
const ROUTES_HEADER = [
  '| waited | requests | p50 | without | p99 | without | longest | without | route |',
  '| -----: | -------: | --: | ------: | --: | ------: | ------: | ------: | ----- |',
];
const STALLS_HEADER = [
  '| waited | requests | function | route |',
  '| -----: | -------: | -------- | ----- |',
];

export function summaryMarkdown(summary: BlockSummary, cwd: string): string[] {
  const { startUp } = summary;
  const sections = [
    `### Event loop blocked: ${periodOf(summary)}`,
    ...tableOf(summary, cwd),
    ...stallTables(summary),
    ...(startUp === undefined ? [] : [capitalized(startUpOf(startUp)), ...tableOf(startUp, cwd)]),
  ];
  return sections.flatMap((section) => [section, '']);
}

function tableOf(period: PeriodSummary, cwd: string): string[] {
  if (period.places.length === 0) return [];
  const { shown, others } = shownPlaces(period);
  const hasWaits = [...shown, others ?? {}].some((totals) => waitsOf(totals) !== undefined);
  const rowOf = (totals: BlockTotals, more: string[]) => {
    const { totalMillis, share, blocks, longestMillis } = totals;
    const waits = hasWaits ? [waitCell(totals)] : [];
    const times = [duration(totalMillis), percent(share), blocks, duration(longestMillis)];
    return row([...waits, ...times, ...more]);
  };
  const rows = shown.map((place) => rowOf(place, [causeOf(place), ...codeCells(place, cwd)]));
  if (others !== undefined) rows.push(rowOf(others, ['', 'other functions', '']));
  return [[...(hasWaits ? HEADER_WITH_WAITS : HEADER), ...rows].join('\n')];
}

/** `6.20 s, 41 requests`. */
function waitCell({ stalledMillis = 0, stalledRequests = 0 }: BlockTotals): string {
  if (stalledRequests === 0) return '';
  const requests = `${stalledRequests} request${stalledRequests === 1 ? '' : 's'}`;
  return `${duration(stalledMillis)}, ${requests}`;
}

/** The routes whose requests waited, with and without that; and what each of them waited for. */
function stallTables(summary: BlockSummary): string[] {
  const routes = stalledRoutes(summary).map((times) => {
    const { route, count, stalledMillis, stalledRequests, withoutStalls } = times;
    return row([
      duration(stalledMillis),
      `${stalledRequests} of ${count}`,
      duration(times.p50Millis),
      duration(withoutStalls.p50Millis),
      duration(times.p99Millis),
      duration(withoutStalls.p99Millis),
      duration(times.maxMillis),
      duration(withoutStalls.maxMillis),
      code(printable(route)),
    ]);
  });
  const stalls = (summary.stalls ?? [])
    .slice(0, SHOWN)
    .map(({ functionName, route, requests, stalledMillis }) =>
      row([
        duration(stalledMillis),
        requests,
        functionName === undefined ? 'unknown code' : code(printable(functionName)),
        route === undefined ? 'other routes' : code(printable(route)),
      ]),
    );
  if (routes.length === 0) return [];
  return [
    'Requests that waited, with and without the wait:',
    [...ROUTES_HEADER, ...routes].join('\n'),
    'Who made whom wait:',
    [...STALLS_HEADER, ...stalls].join('\n'),
  ];
}

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
