/**
 * The labelled blockers of an application (`package/lib/`): what each does, and the place that a
 * developer would change for it.
 * Guarantees: every label is complete, and its line, if it states one, is in the file.
 */
const fs = require('node:fs');
const path = require('node:path');

const FOLDER = path.join(__dirname, 'package', 'lib');
/** What the modules with blockers need. */
const HELPERS = new Set(['data.cjs', 'helpers.cjs']);

/**
 * @typedef {object} Place what a developer would change
 * @property {string[]} names of the function, as a stack trace has them
 * @property {string} file
 * @property {[number, number]} [lines] of the function: for what has no name in it
 * @property {number} [line] the one in it that has to be reported
 */

/** Modules of the application, by path. */
const moduleFiles = () =>
  fs
    .readdirSync(FOLDER)
    .filter((name) => !HELPERS.has(name))
    .map((name) => path.join(FOLDER, name));

/** @returns {Record<string, any>} by label, each with its `place` */
function load() {
  const all = {};
  for (const file of moduleFiles()) {
    const text = fs.readFileSync(file, 'utf8');
    for (const [label, blocker] of Object.entries(require(file))) {
      if (Object.hasOwn(all, label)) throw new Error(`two blockers are called ${label}`);
      const { change, line } = blocker;
      all[label] = {
        ...blocker,
        run: blocker.run ?? change,
        blockingFunction: change,
        place: { ...placeOf(change, file, text), ...(line && { line: lineOf(label, text) }) },
      };
    }
  }
  return all;
}

/** @returns {Place} */
function placeOf(change, file, text) {
  const lines = typeof change === 'function' ? linesOf(change, text) : undefined;
  return { names: [change.name], file, ...(lines && { lines }) };
}

/** First and last line of a function. */
function linesOf(change, text) {
  const at = text.indexOf(String(change));
  if (at === -1) return undefined;
  const first = lineAt(text, at);
  return [first, first + String(change).split('\n').length - 1];
}

function lineOf(label, text) {
  const at = text.indexOf(`<- the line of '${label}'`);
  if (at === -1) throw new Error(`no line is marked for ${label}`);
  return lineAt(text, at);
}

const lineAt = (text, index) => text.slice(0, index).split('\n').length;

const LEAST_GROWTH = 1.25;
const MOST_GROWTH = 2;
/** Code gets faster in the first of them. */
const RUNS = 2;

/** The input with which a blocker takes long enough, some times in a row. */
async function calibrate({ size, make, run, grow, before, asynchronous }, blockMillis) {
  if (size === undefined) return make();
  const timeOf = async (input) => {
    before?.();
    const start = performance.now();
    const running = run(input);
    if (asynchronous) await running;
    return performance.now() - start;
  };
  for (let n = size; ; ) {
    const input = make(n);
    let least = Infinity;
    for (let i = 0; i < RUNS && least >= blockMillis; i++)
      least = Math.min(least, await timeOf(input));
    if (least >= blockMillis) return input;
    const factor = Math.min(MOST_GROWTH, Math.max(LEAST_GROWTH, (1.2 * blockMillis) / least));
    n = grow ? grow(n) : n * factor;
  }
}

module.exports = { calibrate, linesOf, load, moduleFiles };
