/** Numbers, times and paths as people read them. */
import { pathBelow, slashed } from '../src/support/numbers.ts';

export { causeOf, count, duration, percent } from '../src/support/numbers.ts';

const CLOCK = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
});

/** `14:03:27.041` */
export const clockTime = (unixMillis: number) => CLOCK.format(unixMillis);

/** Below the working directory a relative path, and of a package what follows `node_modules`. */
export function shortPath(file: string, cwd: string | undefined): string {
  const path = slashed(file);
  const modules = path.lastIndexOf('/node_modules/');
  return modules === -1 ? pathBelow(cwd, path) : path.slice(modules + '/node_modules/'.length);
}
