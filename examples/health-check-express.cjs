// A health check that turns 503 while clients still get their answers: the lag climbs long before
// they give up.
const { eventLoop } = require('./telemetry.cjs');
const express = require('express');

/** Clients give up after 2 s. */
const MAX_LAG_MILLIS = 500;
/** No shorter than the time between two checks, or what happens between them is missed. */
const LAG_WINDOW_MILLIS = 5000;
/**
 * Requests may wait to be accepted as connections, where the event loop does not count them: then
 * it has no time left, second after second.
 */
const MAX_UTILIZATION = 0.98;
const UTILIZATION_WINDOW_MILLIS = 1000;

const app = express();

app.get('/health', (_request, response) => {
  const { maxLagMillis } = eventLoop.health(LAG_WINDOW_MILLIS);
  const { utilization } = eventLoop.health(UTILIZATION_WINDOW_MILLIS);
  const isHealthy = maxLagMillis < MAX_LAG_MILLIS && utilization < MAX_UTILIZATION;
  response.status(isHealthy ? 200 : 503).json({ maxLagMillis, utilization });
});

app.get('/', (_request, response) => {
  require('./work.cjs').work(8);
  response.send('done');
});

const server = app.listen(process.env.PORT ?? 3000, () =>
  console.log(`listening ${server.address().port}`),
);
