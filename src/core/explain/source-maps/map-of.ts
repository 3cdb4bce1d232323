/**
 * Where the source map of a file is: in its comment `//# sourceMappingURL=…`, in the file that this
 * comment names, or beside it as `file.map`.
 */
import path from 'node:path';
import { isFile } from '../../../support/files.ts';
import { attempt } from '../../../support/guard.ts';

const COMMENT = 'sourceMappingURL=';

/** @returns undefined if there is none; `file` is the one that the map's sources are relative to */
export function mapOf(file: string, code: string): { file: string; inline?: string } | undefined {
  const url = commentIn(code);
  if (url?.startsWith('data:')) return { file, inline: readDataUrl(url) };
  const named = url && !isElsewhere(url) && path.resolve(path.dirname(file), toName(url));
  const found = [named, `${file}.map`].find((its) => its && isFile(its));
  return found ? { file: found } : undefined;
}

/** The URL of the last comment. Code that writes such a comment has a quote near it. */
function commentIn(code: string): string | undefined {
  for (let at = code.lastIndexOf(COMMENT); at > 0; at = code.lastIndexOf(COMMENT, at - 1)) {
    const start = at + COMMENT.length;
    const end = code.slice(start).search(/[\s"'`*]|$/);
    const isComment = /\/[/*][#@]\s$/.test(code.slice(Math.max(0, at - 4), at));
    if (isComment && end > 0) return code.slice(start, start + end);
  }
  return undefined;
}

/** Of a scheme or absolute: nothing is fetched, and only what lies near the file is read. */
const isElsewhere = (url: string) => /^(?:[a-z][\w+.-]+:|[\\/])/i.test(url);

function toName(url: string): string {
  const name = url.replace(/[?#].*$/, '');
  // A name may have a `%` in it.
  return attempt(() => decodeURIComponent(name)) ?? name;
}

function readDataUrl(url: string): string {
  const comma = url.indexOf(',');
  const body = url.slice(comma + 1);
  const isBase64 = url.slice(0, comma).endsWith(';base64');
  return isBase64 ? Buffer.from(body, 'base64').toString() : decodeURIComponent(body);
}
