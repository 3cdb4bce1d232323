// A service that is traced by what is preloaded: Fastify, with one hook and one route.
const { fastify } = require('fastify');
const { listening, find } = require('./service.cjs');

const app = fastify();
app.addHook('onRequest', async (_request, reply) => {
  reply.header('cache-control', 'no-store');
});
app.get('/items/:id', (request) => find(Number(request.params.id)));
app.listen({ port: 0, host: '127.0.0.1' }).then(() => listening(app.server.address().port));
