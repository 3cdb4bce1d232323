// A service that is traced by what is preloaded: Express, with one middleware and one route.
const express = require('express');
const { listening, find } = require('./service.cjs');

const app = express();
app.use((_request, response, next) => {
  response.setHeader('cache-control', 'no-store');
  next();
});
app.get('/items/:id', async (request, response) => {
  response.json(await find(Number(request.params.id)));
});
const server = app.listen(0, '127.0.0.1', () => listening(server.address().port));
