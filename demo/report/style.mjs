// Colours, widths and number formats, the same in every part of the report. `ansis` leaves the
// colours out if output is piped, and follows NO_COLOR and FORCE_COLOR.
import { stripVTControlCharacters } from 'node:util';
import ansis from 'ansis';

export const paint = {
  title: ansis.bold,
  block: ansis.hex('#ff5f5f').bold,
  request: ansis.hex('#5fafff'),
  inner: ansis.hex('#87afd7'),
  code: ansis.hex('#ffd75f'),
  stalled: ansis.hex('#d787ff'),
  good: ansis.hex('#5fd787'),
  fair: ansis.hex('#ffd75f'),
  poor: ansis.hex('#ffaf5f'),
  bad: ansis.hex('#ff5f5f'),
  dim: ansis.hex('#8a8a8a'),
};

/** A paint for a wait: from unnoticeable to what a person notices. */
export function paintForWait(waitMillis) {
  if (waitMillis < 20) return paint.good;
  if (waitMillis < 50) return paint.fair;
  if (waitMillis < 150) return paint.poor;
  return paint.bad;
}

export const visibleLength = (text) => stripVTControlCharacters(text).length;
export const padEnd = (text, width) => text + ' '.repeat(Math.max(0, width - visibleLength(text)));
export const padStart = (text, width) =>
  ' '.repeat(Math.max(0, width - visibleLength(text))) + text;

/** Left and right text on one line of a width. */
export const spread = (left, right, width) => padEnd(left, width - visibleLength(right)) + right;

export function truncate(text, width) {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
}

/** The width to write for: the terminal's, from 80 to 120 columns. */
export function reportWidth(stream) {
  const columns = stream.columns ?? Number(process.env.COLUMNS ?? 100);
  return Math.min(120, Math.max(80, columns || 100));
}

/** Milliseconds with the digits that matter: `0.42 ms`, `4.2 ms`, `402 ms`. */
export function millis(value) {
  if (value < 1) return `${value.toFixed(2)} ms`;
  return `${value.toFixed(value < 10 ? 1 : 0)} ms`;
}

export const plural = (count, noun) =>
  `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/**
 * A solid bar of a width in cells, to an eighth of a cell; at least the thinnest, so that nothing
 * measured disappears.
 */
export function solidBar(cells) {
  const eighths = Math.max(1, Math.round(cells * 8));
  return '█'.repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8];
}
