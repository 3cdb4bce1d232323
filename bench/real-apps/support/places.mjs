// Guarantees: places in code are compared in the sources that a developer changes: compiled files
// are looked up in their source maps.
import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** @typedef {import('./launch.mjs').Label} Label */
/** @typedef {{ name: string, file: string, line: number }} Place */

/** Columns in which the first mapping of a function is looked for. */
const FUNCTION_HEAD = 40;

/** @type {Map<string, SourceMap | undefined>} */
const maps = new Map();

/**
 * @returns {Place} in its source. Where a function begins, there is often no mapping, and the one
 *   before it is of other code.
 */
export function sourcePlace(
  /** @type {string} */ name,
  /** @type {string} */ url,
  /** @type {number} */ line,
  /** @type {number} */ column,
  isFunction = false,
) {
  const file = url.startsWith('file:') ? fileURLToPath(url) : url;
  if (!maps.has(file)) maps.set(file, readMap(file));
  const origin = entryAt(maps.get(file), line - 1, Math.max(0, column - 1), isFunction);
  if (!origin?.originalSource) return { name, file, line };
  const source = origin.originalSource.replace(/^file:\/\//, '').replace(/^webpack:\/\/\/?/, '');
  return {
    name: name === '' ? '' : (origin.name ?? name),
    file: resolve(dirname(file), decodeURIComponent(source)),
    line: origin.originalLine + 1,
  };
}

/** @returns {any} */
function entryAt(
  /** @type {SourceMap | undefined} */ map,
  /** @type {number} */ line,
  /** @type {number} */ column,
  /** @type {boolean} */ isFunction,
) {
  for (let after = column; isFunction && map && after < column + FUNCTION_HEAD; after++) {
    const entry = /** @type {any} */ (map.findEntry(line, after));
    if (entry.generatedLine === line && entry.generatedColumn >= column) return entry;
  }
  return map?.findEntry(line, column);
}

function readMap(/** @type {string} */ file) {
  if (!/^\/.*\.[cm]?js$/.test(file) || file.includes('/node_modules/')) return undefined;
  if (!existsSync(`${file}.map`)) return undefined;
  return new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')));
}

/** @type {Map<string, { from: number, until: number }[]>} */
const ranges = new Map();

/** Lines of the functions of `file` whose first lines have the pieces of text. */
function rangesOf(/** @type {string} */ file, /** @type {string[]} */ pieces) {
  const key = [file, ...pieces].join('\n');
  const known = ranges.get(key);
  if (known !== undefined) return known;
  const lines = readFileSync(file, 'utf8').split('\n');
  const found = pieces.map((piece) => {
    const from = lines.findIndex((line) => line.includes(piece));
    if (from === -1) throw new Error(`${file} has no "${piece}"`);
    const indent = /^\s*/.exec(lines[from])?.[0].length ?? 0;
    const opens = /(?:[[{(]|=>)\s*$/.test(lines[from]);
    const length = opens
      ? lines
          .slice(from + 1)
          .findIndex((line) => line.trim() !== '' && line.search(/\S/) <= indent) + 1
      : 0;
    return { from: from + 1, until: from + 1 + length };
  });
  ranges.set(key, found);
  return found;
}

/** Whether a place is one that the label has. */
export function isLabelled(
  /** @type {Label | Label[]} */ label,
  /** @type {Place} */ place,
  /** @type {string} */ folder,
) {
  return [label].flat().some((each) => {
    if (each.packages !== undefined)
      return each.packages.some((name) => isPartOf(place.file, name));
    if (!isInApp(place.file, folder)) return false;
    if (each.names !== undefined) {
      const last = place.name.split(/[. ]/).at(-1) ?? '';
      return each.names.includes(last);
    }
    if (each.file === undefined) return true;
    const file = isFunctionNode(each.file) ? each.file : join(folder, each.file);
    if (place.file !== file) return false;
    if (each.in === undefined) return true;
    return rangesOf(file, each.in).some(
      ({ from, until }) => place.line >= from && place.line <= until,
    );
  });
}

/** What bundlers put into a bundle of their own: `…/turbopack:/[turbopack]/shared/runtime/…`. */
const RUNTIME = '/[turbopack]/';

/** The application's own: in its folder, and no package. */
export function isInApp(/** @type {string} */ file, /** @type {string} */ folder) {
  if (isFunctionNode(file)) return true;
  const inside = file.startsWith(`${folder}/`) ? file.slice(folder.length) : '/node_modules/';
  return !inside.includes('/node_modules/') && !inside.includes(RUNTIME);
}

/** The code of a Node-RED function node: `Function node:<id> [<name>]`. */
export const isFunctionNode = (/** @type {string} */ file) => file.startsWith('Function node:');

/** Whether a file is of a package, or of a file or folder in it. */
export const isPartOf = (/** @type {string} */ file, /** @type {string} */ name) =>
  `${file.split('/node_modules/').slice(1).at(-1)}/`.startsWith(`${name}/`);

/** @returns {string | undefined} the package that a file is of */
export function packageOf(/** @type {string} */ file) {
  return /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1];
}
