// The same as shed-load-express.cjs, for Fastify.
const { eventLoop } = require('./telemetry.cjs');
const { fastify } = require('fastify');
const { work } = require('./work.cjs');

const WINDOW_MILLIS = 200;
const LAG_MILLIS = [20, 100];
const UTILIZATION = [0.8, 0.95];

const share = (value, [none, all]) => (value - none) / (all - none);

function isOverloaded() {
  const { lagMillis, utilization } = eventLoop.health(WINDOW_MILLIS);
  return Math.max(share(lagMillis, LAG_MILLIS), share(utilization, UTILIZATION)) > Math.random();
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
