/** Numbers, times and paths as people read them. */
export { count, duration, percent } from '../../support/numbers.ts';

/** `14:03:27.041` */
export function clockTime(unixMillis: number): string {
  const time = new Date(unixMillis);
  const two = (n: number) => String(n).padStart(2, '0');
  const seconds = `${two(time.getSeconds())}.${String(time.getMilliseconds()).padStart(3, '0')}`;
  return `${two(time.getHours())}:${two(time.getMinutes())}:${seconds}`;
}

/** Below the working directory a relative path, and of a package what follows `node_modules`. */
export function shortPath(file: string, cwd: string | undefined): string {
  const path = file.split('\\').join('/');
  const modules = path.lastIndexOf('/node_modules/');
  if (modules !== -1) return path.slice(modules + '/node_modules/'.length);
  const folder = cwd === undefined ? undefined : `${cwd.split('\\').join('/')}/`;
  if (folder !== undefined && path.startsWith(folder)) return path.slice(folder.length);
  return path;
}
