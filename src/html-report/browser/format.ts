/** Numbers as people read them. */
export function duration(millis: number): string {
  if (millis === 0) return '0 ms';
  if (millis < 999.5) return `${millis < 9.95 ? millis.toFixed(1) : millis.toFixed(0)} ms`;
  if (millis < 59_950) return `${(millis / 1000).toFixed(millis < 9995 ? 2 : 1)} s`;
  const minutes = Math.floor(millis / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.floor((millis % 60_000) / 1000)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export const percent = (share: number) =>
  `${(100 * share).toFixed(share < 0.0995 && share > 0 ? 1 : 0)} %`;

export const count = (n: number, noun: string) =>
  `${n.toLocaleString('en')} ${noun}${n === 1 ? '' : 's'}`;

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
