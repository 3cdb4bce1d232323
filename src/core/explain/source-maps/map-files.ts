/**
 * Positions in the source, from the maps in the files that run or beside them. For the thread: it
 * reads and decodes.
 *
 * Guarantees: it never throws; it reads only ordinary files; what it keeps is bounded.
 */
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { FlattenMap, originalPositionFor, type TraceMap } from '@jridgewell/trace-mapping';
import { toPath } from '../../../support/file-url.ts';
import { isFile } from '../../../support/files.ts';
import { nameInSource } from './function-name.ts';
import { mapOf } from './map-of.ts';
import type { GeneratedPosition, SourcePosition } from './position.ts';
import { resolveSource } from './resolve-source.ts';

interface MappedFile {
  readonly map: TraceMap;
  readonly mapFolder: string;
  readonly lines: readonly string[];
}

/** Limit of a file, of a map, and of all that is kept. */
const MAX_BYTES = 32 * 1024 * 1024;
/** A map takes ten times its bytes while it is decoded, and others need memory, too. */
const SHARE_OF_MEMORY = 30;
const NAME_BYTES = 4096;

export class MapFiles {
  /** `undefined`: it has no map that can be used. */
  readonly #files = new Map<string, MappedFile | undefined>();
  #keptBytes = 0;

  constructor(
    /** A file has no map, or a map that cannot be used for a reason. */
    private readonly onProblem: (file: string, reason: string | undefined) => void = () => {},
    private readonly maxBytes = Math.min(MAX_BYTES, availableMemory() / SHARE_OF_MEMORY),
  ) {}

  find(position: GeneratedPosition): SourcePosition | undefined {
    const file = toPath(position.file);
    try {
      if (!this.#files.has(file)) this.#open(file);
      const mapped = this.#files.get(file);
      return mapped && findIn(mapped, file, position);
    } catch (error) {
      this.#files.set(file, undefined);
      this.onProblem(file, String(error));
      return undefined;
    }
  }

  #open(file: string): void {
    let bytes = NAME_BYTES;
    const read = (its: string) => {
      const { size } = statSync(its);
      if (size > this.maxBytes)
        throw new RangeError(`${its} is larger than ${this.maxBytes} bytes`);
      bytes += size;
      return readFileSync(its, 'utf8');
    };
    const code = isFile(file) ? read(file) : '';
    const found = mapOf(file, code);
    if (found === undefined) this.onProblem(file, undefined);
    const map = found && decode(found.inline ?? read(found.file));
    this.#keptBytes += bytes;
    if (this.#keptBytes > this.maxBytes) {
      this.#files.clear();
      this.#keptBytes = bytes;
    }
    const mapped = map && { map, mapFolder: path.dirname(found.file), lines: code.split('\n') };
    this.#files.set(file, mapped);
  }
}

function decode(text: string): TraceMap {
  const map = new FlattenMap(JSON.parse(text));
  map.sourcesContent = undefined;
  return map;
}

function findIn({ map, mapFolder, lines }: MappedFile, file: string, position: GeneratedPosition) {
  const { line, column } = position;
  const found = originalPositionFor(map, { line, column: column - 1 });
  if (!found.source) return undefined;
  const source = resolveSource(found.source, mapFolder);
  // Packages often come without the sources that their maps name: such positions are no use.
  if (/[\\/]node_modules[\\/]/.test(file) && !isFile(source)) return undefined;
  const functionName = nameInSource(map, lines, position);
  return {
    file: source,
    line: found.line,
    column: found.column + 1,
    ...(functionName !== undefined && { functionName }),
  };
}

/** Memory of the machine or the container; the typings of Node.js 20 lack it. */
function availableMemory(): number {
  const { availableMemory } = process as { availableMemory?(): number };
  return availableMemory?.call(process) || Number.POSITIVE_INFINITY;
}
