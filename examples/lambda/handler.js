import { createHash } from 'node:crypto';
import { traced } from './telemetry.js';

export const handler = traced('report', async ({ rows }) => ({
  statusCode: 200,
  body: renderReport(rows),
}));

function renderReport(rows) {
  const lines = [];
  for (let row = 0; row < rows; row++)
    lines.push(createHash('sha256').update(`${row}`).digest('hex'));
  return lines.join('\n');
}
