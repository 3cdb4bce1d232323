// Sheds load: of the requests that come while the loop is late, so many are turned away at once
// that the others are answered in time.
const { eventLoop } = require('./telemetry.cjs');
const express = require('express');
const { work } = require('./work.cjs');

/** Short, so that it reacts at once, and recovers at once. */
const WINDOW_MILLIS = 200;
/**
 * None is turned away up to the first figure, all from the second on. In between, the share grows:
 * the service stays at its capacity.
 */
const LAG_MILLIS = [20, 100];
/**
 * Requests may wait to be accepted as connections, where the event loop does not count them: then
 * only its utilization shows it.
 */
const UTILIZATION = [0.8, 0.95];

const share = (value, [none, all]) => (value - none) / (all - none);

function isOverloaded() {
  const { lagMillis, utilization } = eventLoop.health(WINDOW_MILLIS);
  return Math.max(share(lagMillis, LAG_MILLIS), share(utilization, UTILIZATION)) > Math.random();
}

const app = express();

// First of all, so that a request that is turned away costs next to nothing.
app.use((_request, response, next) => {
  if (isOverloaded()) response.status(503).set('Retry-After', '1').send('overloaded');
  else next();
});

app.get('/', (_request, response) => {
  work(8);
  response.send('done');
});

const server = app.listen(process.env.PORT ?? 3000, () =>
  console.log(`listening ${server.address().port}`),
);
