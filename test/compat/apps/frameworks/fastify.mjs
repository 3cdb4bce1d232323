/** Fastify, as ES modules: the instrumentation registers itself as a plugin. */
import { FastifyOtelInstrumentation } from '@fastify/otel';
import { startNodeSdk } from './support/node-sdk.cjs';

const shutdown = startNodeSdk(new FastifyOtelInstrumentation({ registerOnInitialization: true }));
const { default: Fastify } = await import('fastify');
const { serveUntilInputEnds } = await import('./support/serve.cjs');
const { block, blockInSteps, warm } = await import('./support/work.cjs');

const app = Fastify();
app.get('/warm', () => warm());
app.get('/handler', () => block());
app.get('/steps', () => blockInSteps());
await app.listen({ port: 0, host: '127.0.0.1' });

await serveUntilInputEnds(app.server.address().port, async () => {
  await app.close();
  await shutdown();
});
