// An Express application that knows nothing of OpenTelemetry: docs/getting-started.md runs it.
const { createHash } = require('node:crypto');
const express = require('express');

const app = express();

app.get('/report', (_request, response) => {
  response.type('text').send(renderReport(200_000));
});

app.get('/health', (_request, response) => {
  response.send('ok');
});

function renderReport(rows) {
  const lines = [];
  for (let row = 0; row < rows; row++)
    lines.push(`${row},${createHash('sha256').update(`${row}`).digest('hex')}`);
  return lines.join('\n');
}

const port = Number(process.env.PORT ?? 3000);
const server = app.listen(port, () => console.log(`listening on port ${server.address().port}`));
