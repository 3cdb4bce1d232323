import { createHash } from 'node:crypto';

export function renderReport(rows) {
  const lines = [];
  for (let row = 0; row < rows; row++)
    lines.push(createHash('sha256').update(`${row}`).digest('hex'));
  return lines.join('\n');
}
