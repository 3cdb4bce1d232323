// An application that knows nothing of OpenTelemetry. It ends when it is asked to at `/end`, and
// not otherwise.
const express = require('express');
const { running } = require('../../../support/thread-times.cjs');

function renderReport(millis) {
  const goesOn = running(millis);
  let hash = 0;
  while (goesOn()) for (let i = 0; i < 100_000; i++) hash = Math.imul(hash ^ i, 0x01000193);
  return String(hash);
}

const app = express();
app.get('/report', (_request, response) => response.send(renderReport(250)));
app.get('/slow', (_request, response) => setTimeout(() => response.send('ok'), 40));
app.get('/end', (_request, response) => {
  process.exitCode = 7;
  response.set('connection', 'close').send('bye');
  server.close();
});
const server = app.listen(0, '127.0.0.1', () => console.log(`listening ${server.address().port}`));
