import { createHash } from 'node:crypto';
import express from 'express';

const app = express();

app.get('/report', (_request, response) => {
  response.type('text').send(renderReport(200_000));
});

function renderReport(rows: number): string {
  const lines: string[] = [];
  for (let row = 0; row < rows; row++)
    lines.push(createHash('sha256').update(`${row}`).digest('hex'));
  return lines.join('\n');
}

app.listen(Number(process.env['PORT'] ?? 3000));
