/**
 * Positions in the source, from the maps that lie beside the files that run. Reads files and
 * decodes: for a thread that is not the main one. Never throws.
 */
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { toPath } from '../support/file-url.ts';
import { isFile } from '../support/files.ts';
import { attempt } from '../support/guard.ts';
import {
  findMapReference,
  hasScheme,
  openSourceMap,
  readDataUrl,
  type SourceMapReader,
} from './decode.ts';
import { nameInSource } from './function-name.ts';
import type { CodePosition, SourcePosition } from './position.ts';
import { resolveSource } from './resolve-source.ts';
import { TooLarge } from './take-apart.ts';

export interface MapFilesLimits {
  /** A larger file, and a larger map, is not read. */
  readonly maxFileBytes: number;
  /** What is kept of all files. */
  readonly maxKeptBytes: number;
  /** Files without a map that are remembered, and files with one. */
  readonly maxFiles: number;
  /** Nothing is read but the files that are asked for and `file.map` beside each. */
  readonly onlyBeside: boolean;
}

export const DEFAULT_LIMITS: MapFilesLimits = {
  maxFileBytes: 100 * 1024 * 1024,
  maxKeptBytes: 128 * 1024 * 1024,
  maxFiles: 2000,
  onlyBeside: false,
};

/** Why a map could not be used: said once for each cause. */
export type MapProblem = 'not readable' | 'too large' | 'broken';

interface MappedFile {
  readonly map: SourceMapReader;
  readonly mapFolder: string;
  readonly code: Buffer;
}

/** What memory may be used of what there is: others need it, too. */
const SHARE_OF_MEMORY = 1 / 3;

export class MapFiles {
  /** The least recently used first. `undefined`: it has no map. */
  readonly #files = new Map<string, MappedFile | undefined>();

  constructor(
    private readonly onProblem: (problem: MapProblem, file: string) => void = () => {},
    private readonly limits: MapFilesLimits = DEFAULT_LIMITS,
  ) {}

  /** Whether the file has a map that can be used; reads it, if that was not done yet. */
  has(file: string): boolean {
    return this.#open(toPath(file)) !== undefined;
  }

  find(position: CodePosition): SourcePosition | undefined {
    const file = toPath(position.file);
    const mapped = this.#open(file);
    if (mapped === undefined) return undefined;
    try {
      const found = mapped.map.positionOf(position.line, position.column);
      if (found === undefined) return undefined;
      const mayExist = this.limits.onlyBeside ? () => false : exists;
      const sourceFile = resolveSource(found.source, mapped.mapFolder, mayExist);
      // Packages often come without the sources that their maps name: such positions are no use.
      if (isOfPackage(file) && (this.limits.onlyBeside || !exists(sourceFile))) return undefined;
      const functionName = functionNameOf(position, mapped);
      return {
        file: sourceFile,
        line: found.line,
        column: found.column,
        ...(functionName !== undefined && { functionName }),
      };
    } catch {
      this.onProblem('broken', file);
      this.#files.set(file, undefined);
      return undefined;
    }
  }

  #open(file: string): MappedFile | undefined {
    const known = this.#files.get(file);
    if (known !== undefined || this.#files.has(file)) {
      this.#files.delete(file);
      this.#files.set(file, known);
      return known;
    }
    let mapped: MappedFile | undefined;
    try {
      mapped = path.isAbsolute(file) ? this.#read(file) : undefined;
    } catch (error) {
      this.onProblem(problemOf(error), file);
    }
    this.#files.set(file, mapped);
    this.#evict(file);
    return mapped;
  }

  #evict(newest: string): void {
    let bytes = 0;
    for (const mapped of this.#files.values()) if (mapped !== undefined) bytes += sizeOf(mapped);
    for (const [file, mapped] of this.#files) {
      const fits = bytes <= this.limits.maxKeptBytes && this.#files.size <= this.limits.maxFiles;
      if (fits || file === newest) break;
      this.#files.delete(file);
      if (mapped !== undefined) bytes -= sizeOf(mapped);
    }
  }

  #read(file: string): MappedFile | undefined {
    const code = this.#readFile(file);
    if (code === undefined) return undefined;
    const reference = findMapReference(code);
    let bytes: Buffer | undefined;
    let mapFolder = path.dirname(file);
    if (reference !== undefined && 'inline' in reference)
      bytes = readDataUrl(code, reference.inline);
    else {
      const beside =
        reference === undefined || this.limits.onlyBeside
          ? undefined
          : mapBeside(file, reference.url);
      for (const mapFile of new Set([beside, `${file}.map`])) {
        if (mapFile === undefined) continue;
        bytes = this.#readFile(mapFile);
        if (bytes === undefined) continue;
        mapFolder = path.dirname(mapFile);
        break;
      }
    }
    if (bytes === undefined) return undefined;
    return { map: openSourceMap(bytes), mapFolder, code };
  }

  /** Undefined where there is no such file. */
  #readFile(file: string): Buffer | undefined {
    // A pipe would block the thread when it is opened.
    if (!isFile(file)) return undefined;
    const handle = openSync(file, 'r');
    try {
      const { size } = fstatSync(handle);
      if (size > this.limits.maxFileBytes || size > availableMemory() * SHARE_OF_MEMORY)
        throw new TooLarge();
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

/**
 * Only what lies beside the code is read: no URL is fetched, no other place of the file system is
 * named by a comment.
 */
function mapBeside(file: string, url: string): string | undefined {
  if (hasScheme(url) || path.isAbsolute(url) || /^[\\/]/.test(url)) return undefined;
  const relative = url.replace(/[?#].*$/, '');
  // A name may have a `%` in it.
  const decoded = attempt(() => decodeURIComponent(relative)) ?? relative;
  return path.resolve(path.dirname(file), decoded);
}

/** Of the machine or the container; the typings of Node.js 20 lack it. */
function availableMemory(): number {
  const { availableMemory } = process as { availableMemory?(): number };
  return availableMemory?.call(process) || Number.POSITIVE_INFINITY;
}

const sizeOf = ({ map, code }: MappedFile) => map.byteLength + code.length;

const exists = (file: string) => attempt(() => isFile(file)) ?? false;

const isOfPackage = (file: string) => /[\\/]node_modules[\\/]/.test(file);

function functionNameOf(position: CodePosition, { map, code }: MappedFile): string | undefined {
  const { functionName, functionLine, functionColumn } = position;
  if (functionName === undefined || functionLine === undefined || functionColumn === undefined)
    return undefined;
  return nameInSource(map, code, functionLine, functionColumn, functionName);
}
