/** The summary as Markdown, for a pull request or an agent. */
import { duration, pathFrom, printable } from './block-line.ts';
import type { BlockSummary, BlockTotals, PeriodSummary, PlaceSummary } from './summary.ts';
import { causeOf, percent, periodOf, shownPlaces, startUpOf } from './summary-lines.ts';

const HEADER = [
  '| total | share | blocks | longest | cause | function | place |',
  '| ----: | ----: | -----: | ------: | ----- | -------- | ----- |',
];

export function summaryMarkdown(summary: BlockSummary, cwd: string): string[] {
  const { startUp } = summary;
  const sections = [
    `### Event loop blocked: ${periodOf(summary)}`,
    ...tableOf(summary, cwd),
    ...(startUp === undefined ? [] : [capitalized(startUpOf(startUp)), ...tableOf(startUp, cwd)]),
  ];
  return sections.flatMap((section) => [section, '']);
}

function tableOf(period: PeriodSummary, cwd: string): string[] {
  if (period.places.length === 0) return [];
  const { shown, others } = shownPlaces(period);
  const rows = shown.map((place) => rowOf(place, [causeOf(place), ...codeOf(place, cwd)]));
  if (others !== undefined) rows.push(rowOf(others, ['', 'other functions', '']));
  return [[...HEADER, ...rows].join('\n')];
}

function rowOf({ totalMillis, share, blocks, longestMillis }: BlockTotals, more: string[]): string {
  const cells = [duration(totalMillis), percent(share), blocks, duration(longestMillis), ...more];
  return `| ${cells.join(' | ')} |`;
}

function codeOf({ functionName, file, line, column }: PlaceSummary, cwd: string): string[] {
  if (functionName === undefined) return ['unknown code', ''];
  if (file === undefined) return [code(printable(functionName)), ''];
  const place = [pathFrom(file, cwd), line, column].filter((part) => part !== undefined).join(':');
  return [code(printable(functionName)), code(printable(place, Number.POSITIVE_INFINITY))];
}

/** In a cell only `|` is escaped inside of code, and a backtick cannot be. */
const code = (text: string) => `\`${text.replaceAll('`', "'").replaceAll('|', '\\|')}\``;

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
