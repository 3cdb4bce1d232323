// Guarantees: shares of the time in which the thread was not idle, by function of one file and by
// handler, as V8's own profiler (`--cpu-prof`) has them. What has no frame of the file is not in it
// by name; a garbage collection belongs to what ran before it. While a built-in without a frame of
// its own runs, a concatenation for one, V8's profile misses the function that called it: a
// handler that does nothing but call one function seems to run then. It is that function's time.
import { readFileSync } from 'node:fs';
import { Profile } from '../real-apps/support/truth.mjs';

/**
 * @param {Map<string, string>} calledBy what a handler calls, by the names of both
 * @param {string} file of the profile
 * @param {string} source what functions are looked for in
 * @param {number} fromMicros a time of `process.hrtime`, from which on it counts
 * @param {number} untilMicros
 */
export function sharesIn(calledBy, file, source, fromMicros, untilMicros) {
  const profile = new Profile(JSON.parse(readFileSync(file, 'utf8')), '');
  const { samples, millis: total } = profile.between(fromMicros, untilMicros);
  /** @type {Map<string, number>} */
  const functions = new Map();
  /** @type {Map<string, number>} */
  const handlers = new Map();
  const add = (
    /** @type {Map<string, number>} */ map,
    /** @type {string | undefined} */ name,
    /** @type {number} */ millis,
  ) => {
    if (name !== undefined) map.set(name, (map.get(name) ?? 0) + millis / total);
  };
  let stack = samples[0]?.path ?? [];
  for (const { millis, path, isCollection } of samples) {
    if (!isCollection) stack = path;
    const own = stack.filter((place) => place.file.endsWith(source));
    // As the package names it: an anonymous function that a built-in calls is its caller's.
    const named = own.find(({ name }) => name !== '');
    const isMissed = named !== undefined && stack[0] === named && calledBy.has(named.name);
    add(functions, isMissed ? calledBy.get(named.name) : named?.name, millis);
    add(handlers, own.find(({ name }) => name.startsWith('handle'))?.name, millis);
  }
  return { functions, handlers };
}
