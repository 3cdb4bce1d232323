// LangGraph: a graph without a model behind a Hono route, with text splitters and a vector store.
import { Buffer } from 'node:buffer';

const run =
  (/** @type {string} */ step, /** @type {number} */ size) =>
  (/** @type {import('../support/client.mjs').Client} */ client) =>
    client.get('/run', { json: { step, size } });

/** @type {import('../support/launch.mjs').App} */
export default {
  title: 'LangGraph',
  preload: '--import',
  args: () => ['server.mjs'],
  ready: '/health',
  cases: [
    {
      name: 'node of a graph: splits a text',
      ask: run('split', 60000),
      right: [
        { file: 'nodes.mjs', in: ['export async function split'] },
        { packages: ['@langchain/textsplitters'] },
      ],
    },
    {
      name: 'node of a graph: cosine similarity',
      ask: run('retrieve', 2500),
      right: {
        file: 'nodes.mjs',
        in: ['export async function retrieve', 'function similarity', 'embed ='],
      },
    },
    {
      name: 'node of a graph: counts tokens',
      ask: run('count', 15000),
      right: { file: 'nodes.mjs', in: ['export async function count'] },
    },
    {
      name: 'node of a graph: parses JSON',
      ask: run('parse', 80000),
      right: { file: 'nodes.mjs', in: ['export async function parse'] },
    },
    {
      name: 'router of a conditional edge',
      ask: run('route', 6000000),
      right: { file: 'graph.mjs', in: ['function routeByIntent'] },
    },
    {
      name: 'reducer of the state',
      ask: run('reduce', 3000),
      right: { file: 'graph.mjs', in: ['function mergeFacts'] },
    },
    {
      name: 'trimMessages with a counter',
      ask: run('trim', 900),
      right: { file: 'nodes.mjs', in: ['export async function trim', 'function countAll'] },
    },
    {
      name: 'many messages through the state',
      ask: run('many', 9000),
      right: [{ file: 'nodes.mjs' }, { packages: ['@langchain/langgraph', '@langchain/core'] }],
    },
    {
      name: 'stream of a graph, consumed in a route',
      ask: (client) => client.get('/stream', { method: 'POST', body: Buffer.from('{"size":250}') }),
      right: [{ file: 'server.mjs', in: ["app.post('/stream'"] }, { file: 'nodes.mjs' }],
    },
    {
      name: 'prompt template',
      ask: (client) => client.get('/prompt'),
      right: [
        { file: 'nodes.mjs', in: ['export async function prompt'] },
        { packages: ['@langchain/core'] },
      ],
    },
  ],
};
