/**
 * Positions in the source by Node.js itself: with source maps enabled, it has those of code that a
 * loader made in memory. It decodes on the thread that asks, and opens whatever code names
 * as its map.
 */
import { existsSync } from 'node:fs';
import { findSourceMap } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { toPath } from '../support/file-url.ts';
import type { CodePosition, SourcePosition } from './position.ts';
import { resolveSource } from './resolve-source.ts';

export const nodeHasSourceMaps = () =>
  (process as { sourceMapsEnabled?: boolean }).sourceMapsEnabled === true;

/**
 * `null`: Node.js has a map of the file, and the position is not in it. `undefined`: it has none.
 */
export function positionByNode({
  file,
  line,
  column,
}: CodePosition): SourcePosition | null | undefined {
  // Node.js keeps the maps of ES modules by URL, those of CommonJS by path.
  const map =
    findSourceMap(file) ?? findSourceMap(file.startsWith('file:') ? toPath(file) : urlOf(file));
  if (map === undefined) return undefined;
  const entry = map.findEntry(line - 1, column - 1) as Partial<ReturnType<typeof map.findEntry>>;
  const { originalSource, originalLine, originalColumn } = entry as {
    originalSource?: string;
    originalLine?: number;
    originalColumn?: number;
  };
  if (!originalSource || originalLine === undefined || originalColumn === undefined) return null;
  if (!(originalLine >= 0 && originalColumn >= 0)) return null;
  return {
    // Of an indexed map, Node.js leaves the sources as they are.
    file: resolveSource(originalSource, path.dirname(toPath(file)), existsSync),
    line: originalLine + 1,
    column: originalColumn + 1,
  };
}

const urlOf = (file: string) => (path.isAbsolute(file) ? pathToFileURL(file).href : file);
