/** Numbers, causes and paths as people read them: on the console, on the page, in messages. */

/** `152 ms`, `1.52 s`, `61 min 4 s`. */
export function duration(millis: number): string {
  if (millis === 0) return '0 ms';
  if (millis < 999.5) return `${millis < 9.95 ? millis.toFixed(1) : millis.toFixed(0)} ms`;
  if (millis < 59_950) return `${(millis / 1000).toFixed(millis < 9995 ? 2 : 1)} s`;
  const seconds = Math.round(millis / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** `84 %`, and below 10 % `8.4 %`. */
export const percent = (share: number) =>
  `${(100 * share).toFixed(share < 0.0995 && share > 0 ? 1 : 0)} %`;

/** `1 block`, `1,200 blocks`. */
export const count = (n: number, noun: string) =>
  `${n.toLocaleString('en')} ${noun}${n === 1 ? '' : 's'}`;

/** `GC 94 %`, `native`, `waiting`; undefined for JavaScript. */
export function causeOf(cause: string | undefined, gcShare: number): string | undefined {
  if (cause === 'gc') return `GC ${percent(gcShare)}`;
  return cause === 'javascript' ? undefined : cause;
}

/** Below the folder a relative path, which editors and terminals open as well; else as it is. */
export function pathBelow(folder: string | undefined, file: string): string {
  const path = slashed(file);
  const above = `${slashed(folder ?? '').replace(/\/$/, '')}/`;
  return folder && path.startsWith(above) ? path.slice(above.length) : file;
}

export const slashed = (path: string) => path.replaceAll('\\', '/');
