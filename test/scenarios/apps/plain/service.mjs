// The same as an ES module.
import express from 'express';
import threadTimes from '../../../support/thread-times.cjs';

const { running } = threadTimes;
// A reference that is taken while the application is loaded.
const { stringify } = JSON;

const rows = Array.from({ length: 1_200_000 }, (_, id) => ({ id, name: `row ${id}`, tags: [id] }));

function exportRows() {
  return stringify(rows);
}

function renderReport(millis) {
  const goesOn = running(millis);
  let hash = 0;
  while (goesOn()) for (let i = 0; i < 100_000; i++) hash = Math.imul(hash ^ i, 0x01000193);
  return String(hash);
}

const app = express();
app.get('/report', (_request, response) => response.send(renderReport(250)));
app.get('/rows', (_request, response) => response.send(String(exportRows().length)));
app.get('/slow', (_request, response) => setTimeout(() => response.send('ok'), 40));
app.get('/end', (_request, response) => {
  process.exitCode = 7;
  response.set('connection', 'close').send('bye');
  server.close();
});
const server = app.listen(0, '127.0.0.1', () => console.log(`listening ${server.address().port}`));
