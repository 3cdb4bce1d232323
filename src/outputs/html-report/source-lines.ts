/**
 * The source lines around the places of blocks, for the report page.
 *
 * Guarantees: files are read only when the page is written, and at most 8 MB of them; only files
 * of the application whose names end as those of JavaScript and TypeScript do. A file that has
 * changed since this process began is left out, and so is a source that is newer than what was
 * built of it, unless the source map has its contents.
 */
import fs from 'node:fs';
import { basename, dirname, isAbsolute } from 'node:path';
import { ANONYMOUS } from '../../core/explain/name/stack-path.ts';
import { mapOf } from '../../core/explain/source-maps/map-of.ts';
import { resolveSource, withRoot } from '../../core/explain/source-maps/resolve-source.ts';
import { isFile } from '../../support/files.ts';
import { attempt } from '../../support/guard.ts';
import { timeOrigin } from '../../support/time.ts';
import type { CodePlace, SampledStack } from '../../types.ts';
import type { StackTree } from './stack-tree.ts';

// Taken once: spans are made of these by `@opentelemetry/instrumentation-fs`.
const { readFileSync, statSync } = fs;

const MAX_PLACES = 200;
const MAX_LINES = 2000;
const MAX_LINE_LENGTH = 200;
const MAX_BYTES = 8 * 1024 * 1024;
/** Files of the application that are remembered. */
const MAX_FILES = 1000;
const LINES_AROUND = 2;
const LINE_END = /\r\n|[\n\r\u2028\u2029]/;
const SOURCE_FILE = /\.[cm]?[jt]sx?$/;

/** What a source map has, as far as it is needed; nothing is sure. */
interface MapContents {
  readonly sources?: readonly unknown[];
  readonly sourcesContent?: readonly unknown[];
  readonly sourceRoot?: string;
  readonly sections?: readonly { readonly map: MapContents }[];
}

export class SourceLines {
  /** Of the application, by the file that is built of each. */
  readonly #builtFiles = new Map<string, string | undefined>();
  #bytesLeft = 0;

  constructor(private readonly startedAt = timeOrigin) {}

  /** After a block: nothing is read yet. */
  add(stacks: readonly SampledStack[]): void {
    for (const { frames } of stacks)
      for (const { file, builtFile, inApp } of frames)
        if (inApp && this.#builtFiles.size < MAX_FILES) this.#builtFiles.set(file, builtFile);
  }

  /**
   * Of each file, by line number: lines around places of blocks, and those that were sampled.
   * @param places those that blocked for longest first
   */
  read(places: readonly CodePlace[], { frames, files }: ReturnType<StackTree['read']>) {
    this.#bytesLeft = MAX_BYTES;
    const wanted = new Map<string, Set<number>>();
    const functions = new Set<string>();
    for (const place of places.slice(0, MAX_PLACES)) {
      const { functionName, file = '', line, column = 1, functionLine } = place;
      // Code that begins further right is minified.
      if (line === undefined || column > MAX_LINE_LENGTH || !this.#isShown(file)) continue;
      const lines = wanted.get(file) ?? new Set();
      for (let i = line - LINES_AROUND; i <= line + LINES_AROUND; i++) lines.add(i);
      wanted.set(file, lines);
      functions.add(`${file}\n${functionLine}`);
      // A callback has the name of the function around it.
      if (functionName !== ANONYMOUS) functions.add(`${file}\n${functionName}`);
    }
    for (const [name, file, line, functionLine] of frames) {
      const path = files[file] ?? '';
      if (functions.has(`${path}\n${functionLine}`) || functions.has(`${path}\n${name}`))
        wanted.get(path)?.add(line);
    }
    let linesLeft = MAX_LINES;
    const sources = [...wanted].map(([file, numbers]) => {
      const lines = attempt(() => this.#textOf(file))?.split(LINE_END) ?? [];
      const shown = [...numbers].filter((n) => lines[n - 1] !== undefined).slice(0, linesLeft);
      linesLeft -= shown.length;
      const textOf = (n: number) => (lines[n - 1] as string).slice(0, MAX_LINE_LENGTH);
      const shownLines: Record<string, string> = Object.fromEntries(
        shown.map((n) => [n, textOf(n)]),
      );
      return [file, shownLines] as const;
    });
    return Object.fromEntries(sources.filter(([, lines]) => Object.keys(lines).length > 0));
  }

  #isShown(file: string): boolean {
    const isSource = SOURCE_FILE.test(file) && !/(^|[\\/])node_modules[\\/]/.test(file);
    return isSource && this.#builtFiles.has(file);
  }

  #textOf(file: string): string | undefined {
    const built = this.#builtFiles.get(file);
    // A loader compiles in memory, under the path of the source.
    const isBuilt = built !== undefined && built !== file;
    if (isBuilt && this.#hasChanged(built)) return undefined;
    if (isAbsolute(file) && isFile(file) && !this.#hasChanged(file)) {
      const isStale = isBuilt && statSync(file).mtimeMs > statSync(built).mtimeMs;
      const text = isStale ? undefined : this.#read(file)?.toString();
      // With a map, the place is one in what was built: its source is not known.
      const isSource = built !== undefined || mapOf(file, text ?? '') === undefined;
      if (text !== undefined && isSource) return text;
    }
    return isBuilt ? this.#contentsOf(file, built) : undefined;
  }

  /** `ctime` is set anew also if a copy keeps the time of the original. */
  #hasChanged = (file: string) => statSync(file).ctimeMs > this.startedAt;

  /** Undefined if it is no ordinary file, or too large. */
  #read(file: string): Buffer | undefined {
    if (!isFile(file)) return undefined;
    this.#bytesLeft -= statSync(file).size;
    return this.#bytesLeft < 0 ? undefined : readFileSync(file);
  }

  /** From the map of the file that runs. */
  #contentsOf(source: string, built: string): string | undefined {
    const code = this.#read(built);
    if (code === undefined) return undefined;
    const found = mapOf(built, code.toString());
    if (found === undefined) return undefined;
    const { file, inline } = found;
    if (inline === undefined && this.#hasChanged(file)) return undefined;
    const text = inline ?? this.#read(file)?.toString();
    if (text === undefined) return undefined;
    const map: MapContents = JSON.parse(text);
    const folder = dirname(file);
    for (const { sources = [], sourcesContent = [], sourceRoot = '' } of map.sections?.map(
      (section) => section.map,
    ) ?? [map]) {
      const index = sources.findIndex(
        (name) =>
          typeof name === 'string' &&
          (attempt(() => decodeURIComponent(name)) ?? name).includes(basename(source)) &&
          resolveSource(withRoot(sourceRoot, name), folder) === source,
      );
      const contents = sourcesContent[index];
      if (typeof contents === 'string') return contents;
    }
    return undefined;
  }
}
