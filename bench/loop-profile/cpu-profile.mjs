// Guarantees: shares of the time in which the thread was not idle, by function of one file and by
// handler, as V8's own profiler (`--cpu-prof`) has them. What has no frame of the file is not in it
// by name; a garbage collection belongs to what ran before it. While a built-in without a frame of
// its own runs, a concatenation for one, V8's profiler misses the function that called it: a
// handler that does nothing but call one function seems to run then. It is that function's time.
import { readFileSync } from 'node:fs';

const GARBAGE_COLLECTION = '(garbage collector)';
const IDLE = '(idle)';

/**
 * @param {Map<string, string>} calledBy what a handler calls, by the names of both
 * @param {string} file of the profile
 * @param {string} source what functions are looked for in
 * @param {number} fromMicros a time of `process.hrtime`, from which on it counts
 * @param {number} untilMicros
 */
export function sharesIn(calledBy, file, source, fromMicros, untilMicros) {
  const { nodes, samples, timeDeltas, startTime } = JSON.parse(readFileSync(file, 'utf8'));
  const byId = new Map(nodes.map((/** @type {any} */ node) => [node.id, node]));
  const parents = new Map();
  for (const { id, children = [] } of nodes) for (const child of children) parents.set(child, id);
  const stackOf = (/** @type {number} */ id) => {
    const frames = [];
    for (let at = id; at !== undefined; at = parents.get(at)) frames.push(byId.get(at).callFrame);
    return frames;
  };
  /** @type {Map<string, number>} */
  const functions = new Map();
  /** @type {Map<string, number>} */
  const handlers = new Map();
  let total = 0;
  let time = startTime;
  let latest = samples[0];
  samples.forEach((/** @type {number} */ id, /** @type {number} */ i) => {
    const micros = timeDeltas[i + 1] ?? 0;
    time += timeDeltas[i];
    const isCollection = byId.get(id).callFrame.functionName === GARBAGE_COLLECTION;
    if (!isCollection) latest = id;
    if (time < fromMicros || time > untilMicros) return;
    const stack = stackOf(latest);
    if (stack[0].functionName === IDLE) return;
    total += micros;
    const own = stack.filter(({ url }) => url.endsWith(source));
    // As the package names it: an anonymous function that a built-in calls is its caller's.
    const named = own.find(({ functionName }) => functionName !== '');
    const handler = own.find(({ functionName }) => functionName.startsWith('handle'));
    const isMissed = stack[0] === named && calledBy.has(stack[0].functionName);
    const name = isMissed ? calledBy.get(stack[0].functionName) : named?.functionName;
    if (name !== undefined) add(functions, name, micros);
    if (handler !== undefined) add(handlers, handler.functionName, micros);
  });
  return { functions: scaled(functions, total), handlers: scaled(handlers, total) };
}

function add(
  /** @type {Map<string, number>} */ map,
  /** @type {string} */ key,
  /** @type {number} */ value,
) {
  map.set(key, (map.get(key) ?? 0) + value);
}

function scaled(/** @type {Map<string, number>} */ map, /** @type {number} */ total) {
  return new Map([...map].map(([key, value]) => [key, value / total]));
}
