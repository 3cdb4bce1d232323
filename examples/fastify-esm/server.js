import { createHash } from 'node:crypto';
import { fastify } from 'fastify';

const app = fastify();

app.get('/report', async () => renderReport(200_000));

function renderReport(rows) {
  const lines = [];
  for (let row = 0; row < rows; row++)
    lines.push(createHash('sha256').update(`${row}`).digest('hex'));
  return lines.join('\n');
}

await app.listen({ port: Number(process.env.PORT ?? 3000) });
