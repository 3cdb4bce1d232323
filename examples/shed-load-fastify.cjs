// The same as shed-load-express.cjs, for Fastify.
const { eventLoop } = require('./telemetry.cjs');
const { fastify } = require('fastify');
const { work } = require('./work.cjs');

const SOME_LAG_MILLIS = 20;
const ALL_LAG_MILLIS = 100;
const WINDOW_MILLIS = 200;

function isOverloaded() {
  const { lagMillis } = eventLoop.health(WINDOW_MILLIS);
  return lagMillis - SOME_LAG_MILLIS > Math.random() * (ALL_LAG_MILLIS - SOME_LAG_MILLIS);
}

const app = fastify();

app.addHook('onRequest', (_request, reply, done) => {
  if (isOverloaded()) reply.code(503).header('Retry-After', '1').send('overloaded');
  else done();
});

app.get('/', async () => {
  work(8);
  return 'done';
});

app
  .listen({ port: Number(process.env.PORT ?? 3000) })
  .then(() => console.log(`listening ${app.server.address().port}`));
