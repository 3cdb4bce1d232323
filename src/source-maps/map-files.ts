/**
 * Positions in the source, from the maps that lie beside the files that run. Reads files and
 * decodes: for a thread that is not the main one.
 *
 * Guarantees: it never throws; it reads only ordinary files, and a map only if it lies beside its
 * file; what it keeps is bounded.
 */
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { toPath } from '../support/file-url.ts';
import { isFile } from '../support/files.ts';
import { attempt } from '../support/guard.ts';
import { nameInSource } from './function-name.ts';
import { findMapReference } from './map-comment.ts';
import type { GeneratedPosition, SourcePosition } from './position.ts';
import { resolveSource } from './resolve-source.ts';
import { hasScheme, SourceMap, TooLarge } from './source-map.ts';

export interface MapFilesOptions {
  /** A larger file, and a larger map, is not read. */
  readonly maxFileBytes?: number;
  /** If all files together take more, all but the last one are forgotten. */
  readonly maxKeptBytes?: number;
  /** Nothing is read but the files that are asked for and `file.map` beside each. */
  readonly onlyBeside?: boolean;
}

const MAX_FILE_BYTES = 100 * 1024 * 1024;
const MAX_KEPT_BYTES = 128 * 1024 * 1024;
/** What a file takes of which only the name is kept, at most. */
const NAME_BYTES = 4096;
/** The memory that a file may take of what there is: others need it, too. */
const SHARE_OF_MEMORY = 1 / 3;

/** Why a map could not be used: said once for each cause. */
export type MapProblem = 'not readable' | 'too large' | 'broken';

interface MappedFile {
  readonly map: SourceMap;
  readonly mapFolder: string;
  readonly code: Buffer;
}

export class MapFiles {
  /** `undefined`: it has no map that can be used. */
  readonly #files = new Map<string, MappedFile | undefined>();
  #keptBytes = 0;

  constructor(
    private readonly onProblem: (problem: MapProblem, file: string) => void = () => {},
    private readonly options: MapFilesOptions = {},
  ) {}

  find(position: GeneratedPosition): SourcePosition | undefined {
    const file = toPath(position.file);
    const mapped = this.#open(file);
    if (mapped === undefined) return undefined;
    try {
      return this.#findIn(mapped, file, position);
    } catch {
      this.onProblem('broken', file);
      this.#files.set(file, undefined);
      return undefined;
    }
  }

  #findIn({ map, mapFolder, code }: MappedFile, file: string, position: GeneratedPosition) {
    const found = map.positionOf(position.line, position.column);
    if (found === undefined) return undefined;
    const exists = (path: string) =>
      !this.options.onlyBeside && (attempt(() => isFile(path)) ?? false);
    const sourceFile = resolveSource(found.source, mapFolder, exists);
    // Packages often come without the sources that their maps name: such positions are no use.
    if (/[\\/]node_modules[\\/]/.test(file) && !exists(sourceFile)) return undefined;
    const functionName = nameInSource(map, code, position);
    return {
      file: sourceFile,
      line: found.line,
      column: found.column,
      ...(functionName !== undefined && { functionName }),
    };
  }

  #open(file: string): MappedFile | undefined {
    if (this.#files.has(file)) return this.#files.get(file);
    const mapped = attempt(
      () => (path.isAbsolute(file) ? this.#read(file) : undefined),
      (error) => this.onProblem(problemOf(error), file),
    );
    const bytes =
      NAME_BYTES + (mapped === undefined ? 0 : mapped.map.byteLength + mapped.code.length);
    this.#keptBytes += bytes;
    if (this.#keptBytes > (this.options.maxKeptBytes ?? MAX_KEPT_BYTES)) {
      this.#files.clear();
      this.#keptBytes = bytes;
    }
    this.#files.set(file, mapped);
    return mapped;
  }

  #read(file: string): MappedFile | undefined {
    const code = this.#readFile(file);
    if (code === undefined) return undefined;
    const { inline, url } = findMapReference(code);
    if (inline !== undefined)
      return { map: new SourceMap(inline), mapFolder: path.dirname(file), code };
    const named = url === undefined || this.options.onlyBeside ? undefined : mapBeside(file, url);
    for (const mapFile of new Set([named, `${file}.map`])) {
      const bytes = mapFile && this.#readFile(mapFile);
      if (bytes) return { map: new SourceMap(bytes), mapFolder: path.dirname(mapFile), code };
    }
    return undefined;
  }

  /** Undefined if there is no such file. */
  #readFile(file: string): Buffer | undefined {
    // A pipe would block the thread when it is opened.
    if (!isFile(file)) return undefined;
    const handle = openSync(file, 'r');
    try {
      const { size } = fstatSync(handle);
      const { maxFileBytes = MAX_FILE_BYTES } = this.options;
      if (size > Math.min(maxFileBytes, availableMemory() * SHARE_OF_MEMORY)) throw new TooLarge();
      return readFileSync(handle);
    } finally {
      closeSync(handle);
    }
  }
}

function problemOf(error: unknown): MapProblem {
  if (error instanceof TooLarge) return 'too large';
  return typeof (error as NodeJS.ErrnoException | undefined)?.code === 'string'
    ? 'not readable'
    : 'broken';
}

/** The file that a relative URL names; undefined for others: nothing is fetched. */
export function mapBeside(file: string, url: string): string | undefined {
  if (hasScheme(url) || path.isAbsolute(url) || /^[\\/]/.test(url)) return undefined;
  const relative = url.replace(/[?#].*$/, '');
  // A name may have a `%` in it.
  const decoded = attempt(() => decodeURIComponent(relative)) ?? relative;
  return path.resolve(path.dirname(file), decoded);
}

/** Memory of the machine or the container; the typings of Node.js 20 lack it. */
function availableMemory(): number {
  const { availableMemory } = process as { availableMemory?(): number };
  return availableMemory?.call(process) || Number.POSITIVE_INFINITY;
}
