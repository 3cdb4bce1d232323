/** Cells of Markdown tables: the summary of the console, and what `/testing` writes. */
import { pathFrom, printable } from '../report/block-line.ts';
import type { CodePlace } from '../types.ts';

export const row = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;

/** Function and place. */
export function codeCells(
  { functionName, file, line, column }: Partial<CodePlace>,
  cwd: string,
): string[] {
  if (functionName === undefined) return ['unknown code', ''];
  if (file === undefined) return [code(printable(functionName)), ''];
  const place = [pathFrom(file, cwd), line, column].filter((part) => part !== undefined).join(':');
  return [code(printable(functionName)), code(printable(place, Number.POSITIVE_INFINITY))];
}

/** In a cell only `|` is escaped inside of code, and a backtick cannot be. */
export const code = (text: string) => `\`${text.replaceAll('`', "'").replaceAll('|', '\\|')}\``;
