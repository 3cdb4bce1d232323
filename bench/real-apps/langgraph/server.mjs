import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { graph } from './graph.mjs';
import { prompt } from './nodes.mjs';

const app = new Hono();
app.get('/health', (c) => c.text('ok'));
app.post('/run', async (c) => {
  const { step, size } = await c.req.json();
  const { facts, messages } = await graph.invoke({ step, size });
  return c.json({ facts: facts.slice(0, 3), messages: messages.length });
});
app.post('/stream', async (c) => {
  const { size } = await c.req.json();
  let length = 0;
  for await (const state of await graph.stream({ step: 'many', size }, { streamMode: 'values' })) {
    for (let i = 0; i < 40; i++) length += JSON.stringify(state).length;
  }
  return c.json({ ok: length > 0 });
});
app.get('/prompt', async (c) => c.json({ length: (await prompt()).length }));

const server = serve({ fetch: app.fetch, port: Number(process.env.PORT), hostname: '127.0.0.1' });
process.on('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});
