// pm2 without its daemon, as in a container: `pm2-runtime` starts an Express application.
import { Buffer } from 'node:buffer';

const csv = `id,name,price\n${Array.from({ length: 30000 }, (_, i) => `${i},"Name ${i}",${i / 7}`).join('\n')}`;
const text = (/** @type {number} */ n) =>
  Array.from({ length: n }, (_, i) => `The customers were running ${i} orders quickly`).join('. ');

/** @type {import('../support/launch.mjs').App} */
export default {
  title: 'pm2-runtime with Express',
  args: () => ['node_modules/pm2/bin/pm2-runtime', 'start', 'server.js', '--name', 'shop'],
  env: ({ data }) => ({
    PM2_HOME: `${data}/pm2`,
    PM2_DISABLE_VERSION_CHECK: 'true',
    PM2_NO_INTERACTION: '1',
  }),
  throughOptions: true,
  ready: '/health',
  cases: [
    {
      name: 'pug template with a loop',
      ask: (client) => client.get('/catalogue'),
      right: [
        { file: 'server.js', in: ["app.get('/catalogue'"] },
        { packages: ['pug', 'express'] },
        { file: 'views/catalogue.pug' },
      ],
    },
    {
      name: 'papaparse in a handler',
      ask: (client) =>
        client.get('/import', {
          method: 'POST',
          body: csv,
          headers: { 'content-type': 'text/csv' },
        }),
      right: { file: 'server.js', in: ["app.post('/import'"] },
    },
    {
      name: 'stemming by natural',
      ask: (client) => client.get('/stem', { json: { text: text(700) } }),
      right: { file: 'search.js', in: ['exports.stem'] },
    },
    {
      name: 'tf-idf by natural',
      ask: (client) => client.get('/rank'),
      right: { file: 'search.js', in: ['exports.rank'] },
    },
    {
      name: 'jsonwebtoken in a middleware',
      ask: (client) => client.get('/session', { headers: { 'x-sessions': '60' } }),
      varies: true,
      right: { file: 'sessions.js', in: ['exports.authenticate'] },
    },
    {
      name: 'moment in a loop',
      ask: (client) => client.get('/calendar'),
      right: { file: 'calendar.js', in: ['exports.openingHours'] },
    },
    {
      name: 'lodash isEqual and cloneDeep',
      ask: (client) => client.get('/compare'),
      right: { file: 'server.js', in: ["app.get('/compare'"] },
    },
    {
      name: 'error handler that inspects',
      ask: (client) => client.get('/fails').catch(() => {}),
      varies: true,
      right: { file: 'server.js', in: ['function reportError'] },
    },
    {
      name: 'callback of zlib.gunzip',
      ask: (client) => client.get('/unzip', { method: 'POST', body: Buffer.alloc(10) }),
      right: { file: 'server.js', in: ["app.post('/unzip'"] },
    },
    {
      name: 'readFileSync and split',
      ask: (client) => client.get('/log'),
      right: { file: 'server.js', in: ["app.get('/log'"] },
    },
  ],
};
