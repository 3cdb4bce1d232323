import bcrypt from 'bcryptjs';
import Fastify from 'fastify';
import { derive, login, register, rotateKeys } from './accounts.mjs';
import { analyse, compile } from './compile.mjs';
import { countTokens, countWith, split } from './tokens.mjs';

const app = Fastify({ bodyLimit: 32 * 1024 * 1024 });
app.addHook('preHandler', async (request) => {
  const { authorization } = request.headers;
  if (authorization === undefined) return;
  request.legacyUser = bcrypt.hashSync(authorization, '$2b$09$abcdefghijklmnopqrstuu');
});
app.get('/health', async () => 'ok');
app.post('/login', async (request) => login(request.body.password));
app.post('/register', async (request) => ({ hash: register(request.body.password) }));
app.post('/tokens', async (request) => ({ count: countTokens(request.body.text) }));
app.post('/models/:model', async (request) => ({
  count: countWith(request.params.model, request.body.text),
}));
app.post('/split', async (request) => ({ parts: split(request.body.text) }));
app.post('/compile', async (request) => ({ length: compile(request.body.code).length }));
app.post('/analyse', async (request) => analyse(request.body.code));
app.get('/legacy', async (request) => ({ user: request.legacyUser }));
app.get('/derive', (request, reply) => {
  derive('secret', (error, key) => reply.send({ error, key }));
});
app.get('/keys', async () => rotateKeys());

await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
process.once('SIGTERM', () => app.close());
