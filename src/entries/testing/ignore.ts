/** Which blocks a test ignores. */
import { toPath } from '../../support/file-url.ts';
import { slashed } from '../../support/numbers.ts';
import type { EventLoopBlock } from '../../types.ts';
import { framesOfTest } from './event-loop-blocked-error.ts';

/** A line of a V8 stack trace: the function, if it has a name, and the file. */
const FRAME = /^\s*at (?:async )?(?:(.*?) (?:\[as \S+\] )?\()?(.+?)(?::\d+)?(?::\d+)?\)?$/;

/**
 * True if the blocking function, or one that called it, has one of the names, or is in one of the
 * files or folders. Which function of a chain of calls a block is named by may change from run to
 * run; the callers are the same.
 */
export function isIgnored({ code }: EventLoopBlock, ignore: readonly string[]): boolean {
  if (code === undefined) return false;
  const { functionName, file = '', stackTrace } = code;
  const frames = framesOfTest(stackTrace).map((line) => FRAME.exec(line) ?? []);
  const places = [[functionName, file], ...frames.map(([, name = '', path = '']) => [name, path])];
  return places.some(([name = '', path = '']) =>
    ignore.some((one) => isNamed(name, one) || isIn(path, one)),
  );
}

/** V8 puts the class of a method before its name. */
const isNamed = (name: string, wanted: string) => name === wanted || name.endsWith(`.${wanted}`);

/** Whole parts of the path: `report.js` is not `old-report.js`. */
const isIn = (file: string, wanted: string) =>
  `/${slashed(toPath(file))}/`.includes(`/${slashed(wanted).replace(/^\.?\/|\/$/g, '')}/`);
