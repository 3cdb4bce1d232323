/** The source lines of a function, and how long each of them ran in some blocks. */
import type { CodePlace } from '../src/types.ts';
import { code, h } from './elements.ts';
import { duration, percent } from './format.ts';
import { type Block, isFrameOf, type Model } from './model.ts';
import { stacksOf } from './stacks.ts';

const LINES_AROUND = 2;
/** Other lines of the function are shown if they had this share of its time. */
const MIN_SHARE = 0.02;
const MAX_LINES = 14;

/** Undefined if the report does not have its source. */
export function sourceOf(
  model: Model,
  blocks: readonly Block[],
  place: CodePlace | undefined,
): HTMLElement | undefined {
  const { file = '', line } = place ?? {};
  const lines = model.report.sources?.[file];
  if (place === undefined || lines === undefined || line === undefined) return undefined;
  const millisOf = lineTimes(model, blocks, place);
  const all = [...millisOf.values()].reduce((sum, millis) => sum + millis, 0);
  const millisAt = (n: number) => millisOf.get(n) ?? 0;
  const shown = Object.keys(lines)
    .map(Number)
    .filter((n) => Math.abs(n - line) <= LINES_AROUND || millisAt(n) > MIN_SHARE * all)
    .sort((a, b) => millisAt(b) - millisAt(a) || Math.abs(a - line) - Math.abs(b - line))
    .slice(0, MAX_LINES)
    .sort((a, b) => a - b);
  if (!shown.includes(line)) return undefined;
  const indent = Math.min(...shown.map((n) => indentOf(lines[n] as string)));
  return h(
    'ol',
    { class: 'source', tabindex: 0, 'aria-label': `Source of ${place.functionName}` },
    ...shown.map((n, i) => {
      const millis = millisAt(n);
      const time = h('span', { class: 'time' }, millis > 0 && duration(millis));
      time.style.setProperty('--share', `${(100 * millis) / (all || 1)}%`);
      const isAfterGap = i > 0 && shown[i - 1] !== n - 1;
      return h(
        'li',
        {
          class: `${isAfterGap ? 'after-gap' : ''}${n === line ? ' place-line' : ''}`,
          title: millis > 0 && `${duration(millis)}, ${percent(millis / all)}`,
        },
        h('span', { class: 'line' }, String(n)),
        time,
        code((lines[n] as string).slice(indent) || ' '),
      );
    }),
  );
}

/** Milliseconds by line. A stack counts for the line of the innermost call of the function. */
function lineTimes(
  { report }: Model,
  blocks: readonly Block[],
  place: CodePlace,
): Map<number, number> {
  const millisOf = new Map<number, number>();
  for (const { frames, millis } of stacksOf(report.stacks, blocks)) {
    const line = frames.findLast((frame) => isFrameOf(place, frame))?.line;
    if (line !== undefined) millisOf.set(line, (millisOf.get(line) ?? 0) + millis);
  }
  return millisOf;
}

const indentOf = (text: string) => (text.trim() === '' ? Infinity : text.search(/\S/));
