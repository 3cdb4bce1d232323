// node server.cjs <kind>: an Express application whose first request starts a consumer.
const express = require('express');
const { start } = require(`./kinds/${process.argv[2]}.cjs`);

const jobOf = ({ query: { id, millis } }) => ({ id, millis: Number(millis) });
let consumer;
const app = express();
app.get('/light', (request, response) => response.json('light'));
app.get('/lazy', async (request, response) => {
  consumer ??= start(server);
  await consumer;
  response.json('started');
});
app.get('/job', async (request, response) => {
  const { ask } = await consumer;
  await ask(jobOf(request));
  response.json('done');
});
app.get('/post', async (request, response) => {
  const { ask } = await consumer;
  void ask(jobOf(request));
  response.json('posted');
});
const server = app.listen(process.env.PORT, '127.0.0.1');
