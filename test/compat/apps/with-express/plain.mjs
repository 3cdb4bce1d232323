// The same as `plain.cjs`, as ES modules.
import { createServer } from 'node:http';
import express from 'express';
import serve from './serve.cjs';
import work from './work.cjs';

const app = express();
app.get('/warm', (_req, res) => res.json(work.warm()));
app.get('/handler', (_req, res) => res.json(work.block()));
app.get('/steps', async (_req, res) => res.json(await work.blockInSteps()));
serve.serveHttp(createServer(app), async () => {});
