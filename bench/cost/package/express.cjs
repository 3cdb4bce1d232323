// A service that is traced by what is preloaded: Express, with one middleware and one route.
const { setImmediate: nextIteration } = require('node:timers/promises');
const express = require('express');

const ROWS = 20;

const app = express();
app.use((_request, response, next) => {
  response.setHeader('cache-control', 'no-store');
  next();
});
/** As from a database: a later iteration has the answer. */
app.get('/items/:id', async (request, response) => {
  await nextIteration();
  const id = Number(request.params.id);
  response.json(Array.from({ length: ROWS }, (_, i) => ({ id: id + i, name: `item ${id + i}` })));
});
const server = app.listen(0, '127.0.0.1', () => process.send(server.address().port));
process.on('disconnect', () => process.exit());
