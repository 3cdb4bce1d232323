// Guarantees: the list of matrix cells, each a Node.js major on one OpenTelemetry line, in the
// order they run.

/**
 * @typedef {object} Cell
 * @property {string} id `<Node major>-<line>`, as given to `--only`
 * @property {number} node Node.js major
 * @property {'legacy' | 'modern'} line folder beside this file, with the line's package.json and
 *   lock
 */

/** Node.js majors by line. The modern line needs Node >= 22.15. */
const MAJORS = { legacy: [20, 22, 24, 26], modern: [22, 24, 26] };

/** @type {Cell[]} */
export const CELLS = Object.entries(MAJORS).flatMap(([line, majors]) =>
  majors.map((node) => ({ id: `${node}-${line}`, node, line })),
);

/**
 * @param {string | undefined} only comma-separated ids; all cells when left out
 * @returns {Cell[]} in the order of {@link CELLS}
 * @throws {Error} names an id that does not exist
 */
export function chooseCells(only) {
  if (only === undefined) return CELLS;
  const wanted = only.split(',').map((id) => id.trim());
  const known = CELLS.map((cell) => cell.id);
  const unknown = wanted.filter((id) => !known.includes(id));
  if (unknown.length > 0)
    throw new Error(`no such cell: ${unknown.join(', ')} (there are ${known.join(', ')})`);
  return CELLS.filter((cell) => wanted.includes(cell.id));
}
