/** Colours, on a terminal that has them. */
import { isatty } from 'node:tty';
import { styleText } from 'node:util';
import type { Paint } from '../../core/emit/block-line.ts';

const STDERR = 2;

/** From this length on, a block is red. */
const LONG_MILLIS = 1000;

export const STYLED: Paint = {
  length: (text, millis) => style(['bold', millis >= LONG_MILLIS ? 'red' : 'yellow'], text),
  code: (text) => style('bold', text),
  aside: (text) => style('dim', text),
};

/** From Node.js 22.13 on, `styleText` checks stdout unless an option says otherwise. */
function style(format: string | string[], text: string): string {
  return (styleText as (format: unknown, text: string, options: object) => string)(format, text, {
    validateStream: false,
  });
}

/** `NO_COLOR`, `FORCE_COLOR` and the like are read by `hasColors`. */
export function hasColors(): boolean {
  // Asked first: the getter of `process.stderr` opens a stream. In a worker thread that is no
  // terminal.
  return isatty(STDERR) && process.stderr.hasColors?.() === true;
}
