/** Numbers, times and paths as people read them. */
import { pathBelow, slashed } from '../../support/numbers.ts';

export { causeOf, count, duration, percent } from '../../support/numbers.ts';

/** `14:03:27.041` */
export function clockTime(unixMillis: number): string {
  const time = new Date(unixMillis);
  const two = (n: number) => String(n).padStart(2, '0');
  const seconds = `${two(time.getSeconds())}.${String(time.getMilliseconds()).padStart(3, '0')}`;
  return `${two(time.getHours())}:${two(time.getMinutes())}:${seconds}`;
}

/** Below the working directory a relative path, and of a package what follows `node_modules`. */
export function shortPath(file: string, cwd: string | undefined): string {
  const path = slashed(file);
  const modules = path.lastIndexOf('/node_modules/');
  return modules === -1 ? pathBelow(cwd, path) : path.slice(modules + '/node_modules/'.length);
}
