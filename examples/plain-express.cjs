// An Express application that knows nothing of OpenTelemetry: README.md and the docs run it.
const { createHash } = require('node:crypto');
const app = require('express')();
app.get('/report', (_request, response) => response.send(renderReport(2_000_000)));
app.listen(3000, () => console.log('listening on port 3000'));

function renderReport(rows) {
  const hash = createHash('sha256');
  for (let row = 0; row < rows; row++) hash.update(`row ${row}\n`);
  return hash.digest('hex');
}
