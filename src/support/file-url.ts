/**
 * V8 names ES modules by URL. NO REGULAR EXPRESSION may run here, nor in Node.js' own `url`: it is
 * called inside captures, see `sample/stack.ts`.
 */
import { sep } from 'node:path';

const SCHEME = 'file://';

/** The path of a `file:` URL, without query and fragment; anything else as it is. Never throws. */
export function toPath(file: string, separator = sep): string {
  if (!file.startsWith(SCHEME)) return file;
  const [beforeQuery = ''] = file.slice(SCHEME.length).split('?');
  const [encoded = ''] = beforeQuery.split('#');
  try {
    const path = decodeURIComponent(encoded);
    return separator === '/' ? path : windowsPath(path);
  } catch {
    return file;
  }
}

/** `/C:/app/main.js` is a drive's, `server/share/main.js` a server's. */
function windowsPath(path: string): string {
  const backslashed = path.split('/').join('\\');
  return backslashed.startsWith('\\') ? backslashed.slice(1) : `\\\\${backslashed}`;
}
