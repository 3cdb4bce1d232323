/**
 * The key that a place is counted under.
 *
 * Guarantees: the same function has the same key in every block, two functions that only share a
 * name that says nothing have two, and the values of the metric attribute are as few as the
 * functions of the code.
 */
import { ANONYMOUS } from './stack-path.ts';

/**
 * A function, and where it begins; positions as they are in the rest of the report, generated or
 * source.
 */
export interface KeyedPlace {
  readonly functionName: string;
  readonly file?: string;
  /** The function was at this position when it was sampled. */
  readonly line?: number;
  readonly column?: number;
  /** The function begins here, in every block. */
  readonly functionLine?: number;
  readonly functionColumn?: number;
}

/** Names up to this long are a minifier's more often than not. */
const MAX_MINIFIED_LENGTH = 2;
/**
 * Source lines are shorter than this: code that begins further right is minified, and its line says
 * nothing without the column.
 */
const MAX_WRITTEN_COLUMN = 200;
const MAX_FILE_LENGTH = 80;

/**
 * Key of the summary's rows: the function's name and file, with its position if the name says
 * nothing.
 */
export function keyOf(place: KeyedPlace): string {
  const position = saysNothing(place.functionName) ? positionOf(place) : '';
  return `${place.functionName}\n${place.file ?? ''}${position}`;
}

/** The function's beginning, if its name says nothing. */
export function beginOf(place: KeyedPlace): Pick<KeyedPlace, 'file' | 'line'> {
  const { functionName, file, line, functionLine = line } = place;
  if (!saysNothing(functionName) || file === undefined) return {};
  return { file, ...(functionLine !== undefined && { line: functionLine }) };
}

/**
 * Names for a list: one that says nothing has file and line of its beginning with it,
 * `<anonymous> (src/report.js:31)`; two of one name in different files have their files. A file is
 * relative to the working directory, in a package it begins with the package's name, and elsewhere
 * it is the last two parts of the path.
 */
export function distinctNamesOf(places: readonly KeyedPlace[], cwd: string): string[] {
  const names = places.map((place) => {
    const { functionName, file } = place;
    if (!saysNothing(functionName) || file === undefined) return functionName;
    return `${functionName} (${shortFile(file, cwd)}${positionOf(place)})`;
  });
  return names.map((name, i) => {
    const { functionName, file } = places[i] as KeyedPlace;
    const isOnce = names.indexOf(name) === names.lastIndexOf(name);
    if (isOnce || name !== functionName || file === undefined) return name;
    return `${name} (${shortFile(file, cwd)})`;
  });
}

/** `exportOrders (src/orders.js:20)`; a function without a name is its place. */
export function shortPlace({ functionName, file, line }: KeyedPlace, cwd: string): string {
  if (file === undefined) return functionName;
  const place = [shortFile(file, cwd), line].filter((part) => part !== undefined).join(':');
  return functionName === ANONYMOUS ? place : `${functionName} (${place})`;
}

/** Anonymous, or of one or two letters, as a function or as a method: `e`, `t.n`, `new r`. */
function saysNothing(functionName: string): boolean {
  const [last = ''] = functionName.split(/[. ]/).slice(-1);
  return functionName === ANONYMOUS || last.length <= MAX_MINIFIED_LENGTH;
}

function positionOf(place: KeyedPlace): string {
  const { line, column, functionLine = line, functionColumn = column } = place;
  if (functionLine === undefined) return '';
  const isMinified = functionColumn !== undefined && functionColumn > MAX_WRITTEN_COLUMN;
  return isMinified ? `:${functionLine}:${functionColumn}` : `:${functionLine}`;
}

function shortFile(file: string, cwd: string): string {
  const path = file.replaceAll('\\', '/');
  const folder = cwd.replaceAll('\\', '/').replace(/\/?$/, '/');
  const [, inPackage] = /.*\/node_modules\/(.*)/.exec(path) ?? [];
  const inFolder = path.startsWith(folder) ? path.slice(folder.length) : undefined;
  const short = inPackage ?? inFolder ?? path.split('/').slice(-2).join('/');
  return short.length > MAX_FILE_LENGTH ? `…${short.slice(1 - MAX_FILE_LENGTH)}` : short;
}
