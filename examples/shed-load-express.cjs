// Sheds load: of the requests that come while the loop is late, so many are turned away at once that the others are answered in time.
const { eventLoop } = require('./telemetry.cjs');
const express = require('express');
const { work } = require('./work.cjs');

/** From here on some requests are turned away, ... */
const SOME_LAG_MILLIS = 20;
/** ... and from here on all. In between, the share grows with the lag: the service stays at its capacity. */
const ALL_LAG_MILLIS = 100;
/** Short, so that it reacts at once, and recovers at once. */
const WINDOW_MILLIS = 200;

function isOverloaded() {
  const { lagMillis } = eventLoop.health(WINDOW_MILLIS);
  return lagMillis - SOME_LAG_MILLIS > Math.random() * (ALL_LAG_MILLIS - SOME_LAG_MILLIS);
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

const server = app.listen(process.env.PORT ?? 3000, () => console.log(`listening ${server.address().port}`));
