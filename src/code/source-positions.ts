/**
 * Positions in the source instead of the generated code, where the process runs with
 * `--enable-source-maps`. After the block, since Node.js decodes a source map on first use.
 */
import { findSourceMap } from 'node:module';
import { pathToFileURL } from 'node:url';
import { toPath } from '../support/file-url.ts';
import type { BlockingCode } from '../types.ts';
import type { SampledCode } from './blocking-code.ts';

interface Position {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** `process.sourceMapsEnabled`: Node.js 20.7. */
const isEnabled = () => (process as { sourceMapsEnabled?: boolean }).sourceMapsEnabled === true;

export function withSourcePositions(seen: SampledCode): SampledCode {
  if (seen.code === undefined || !isEnabled()) return seen;
  return { ...seen, code: mapCode(seen.code) };
}

function mapCode(code: BlockingCode): BlockingCode {
  const { file, line, column } = code;
  const position =
    file === undefined || line === undefined
      ? undefined
      : originalPosition({ file, line, column: column ?? 1 });
  return { ...code, ...position, stackTrace: mapStackTrace(code.stackTrace) };
}

/** A place in a line of a stack trace: the last thing in it. */
const PLACE = /((?:file:\/\/|\/|[A-Za-z]:[\\/]).*?):(\d+):(\d+)(\)?)$/;

function mapStackTrace(stackTrace: string): string {
  return stackTrace
    .split('\n')
    .map((text) =>
      text.replace(
        PLACE,
        (whole, file: string, line: string, column: string, close: string | undefined) => {
          const position = originalPosition({
            file: toPath(file),
            line: Number(line),
            column: Number(column),
          });
          return position === undefined
            ? whole
            : `${position.file}:${position.line}:${position.column}${close ?? ''}`;
        },
      ),
    )
    .join('\n');
}

function originalPosition({ file, line, column }: Position): Position | undefined {
  // Node.js keeps the maps of ES modules by URL, those of CommonJS by path.
  const map =
    findSourceMap(file) ?? (isUrl(file) ? undefined : findSourceMap(pathToFileURL(file).href));
  const entry = map?.findEntry(line - 1, column - 1);
  if (entry === undefined || !('originalSource' in entry)) return undefined;
  return {
    file: toPath(entry.originalSource),
    line: entry.originalLine + 1,
    column: entry.originalColumn + 1,
  };
}

const isUrl = (file: string) => /^[a-z][a-z+.-]+:/i.test(file);
