// A health check that turns 503 while clients still get their answers: the lag climbs long before they give up.
const { eventLoop } = require('./telemetry.cjs');
const express = require('express');

/** Clients give up after 2 s. */
const MAX_LAG_MILLIS = 500;
/** No shorter than the time between two checks, or what happens between them is missed. */
const WINDOW_MILLIS = 5000;

const app = express();

app.get('/health', (_request, response) => {
  const health = eventLoop.health(WINDOW_MILLIS);
  response.status(health.maxLagMillis > MAX_LAG_MILLIS ? 503 : 200).json(health);
});

app.get('/', (_request, response) => {
  require('./work.cjs').work(8);
  response.send('done');
});

const server = app.listen(process.env.PORT ?? 3000, () => console.log(`listening ${server.address().port}`));
