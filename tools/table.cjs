// Guarantees: a table that is aligned on a terminal and valid Markdown.

/**
 * @param {string[]} head
 * @param {string[][]} rows
 * @param {{ numeric?: boolean }} [options] `numeric`: all but the first column are aligned to the
 *   right
 */
function table(head, rows, { numeric = false } = {}) {
  const isRight = (/** @type {number} */ column) => numeric && column > 0;
  const widths = head.map((title, i) =>
    Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)),
  );
  const pad = (/** @type {string} */ cell, /** @type {number} */ i) =>
    isRight(i) ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0);
  const line = (/** @type {string[]} */ cells) => `| ${cells.join(' | ')} |`;
  const rule = widths.map((width, i) =>
    isRight(i) ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width),
  );
  return [head.map(pad), rule, ...rows.map((row) => row.map(pad))].map(line).join('\n');
}

module.exports = { table };
