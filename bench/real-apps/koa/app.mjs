// Koa as ES modules: a booking service with accounts, calendars and documents.
const people = Array.from({ length: 6 }, (_, i) => ({
  email: `person${i}@example.com`,
  password: `secret number ${i}`,
}));
const bookings = Array.from({ length: 1200 }, (_, i) => ({
  room: `Room ${i % 40}`,
  email: `guest${i}@example.com`,
  from: new Date(1.7e12 + i * 36e5).toISOString(),
  guests: [{ name: `Guest ${i}`, age: 20 + (i % 50) }],
}));
const contract = (/** @type {number} */ revision) => ({
  title: 'Contract',
  parts: Array.from({ length: 9000 }, (_, i) => ({
    id: i,
    text: `Part ${i} ${i % 50 === revision ? 'changed' : ''}`,
    tags: { a: i, b: [`${i}`, `${i % 7}`] },
  })),
});
const list = (/** @type {number} */ step) =>
  Array.from({ length: 1100 }, (_, i) => `entry ${(i * step) % 1300}`);

/** @type {import('../support/launch.mjs').App} */
export default {
  title: 'Koa with yup, bcryptjs and moment-timezone',
  preload: '--import',
  args: () => ['server.js'],
  ready: '/health',
  cases: [
    {
      name: 'accounts with bcryptjs, one after the other',
      ask: (client) => client.get('/accounts', { json: people }),
      right: [
        { file: 'services/accounts.js', in: ['async register('] },
        { packages: ['bcryptjs'] },
      ],
    },
    {
      name: 'login with compareSync',
      ask: (client) => client.get('/login', { json: people[0] }),
      right: { file: 'services/accounts.js', in: ['login('] },
    },
    {
      name: 'RS256 tokens for a list of devices',
      ask: (client) => client.get('/devices/tokens?count=120'),
      varies: true,
      right: { file: 'lib/tokens.js' },
    },
    {
      name: 'yup validation in a middleware',
      ask: (client) => client.get('/bookings', { json: bookings }),
      right: { file: 'middleware/validate.js' },
    },
    {
      name: 'calendar with moment-timezone',
      ask: (client) => client.get('/calendar?zone=America/New_York'),
      right: { file: 'lib/calendar.js', in: ['export function freeSlots'] },
    },
    {
      name: 'lodash report after await',
      ask: (client) => client.get('/reports/occupancy'),
      right: { file: 'services/reports.js', in: ['export async function occupancy'] },
    },
    {
      name: 'fast-json-patch of two documents',
      ask: (client) =>
        client.get('/documents/patch', { json: { before: contract(1), after: contract(2) } }),
      right: [
        { file: 'server.js', in: ["router.post('/documents/patch'"] },
        // It reads the documents first.
        { packages: ['koa-body', 'co-body'] },
      ],
    },
    {
      name: 'jsondiffpatch of long lists',
      ask: (client) =>
        client.get('/documents/diff', { json: { before: list(7), after: list(11) } }),
      right: { file: 'lib/documents.js', in: ['export const diffLists'] },
    },
    {
      name: 'middleware that makes an ETag after next()',
      ask: (client) => client.get('/cached/bookings'),
      right: { file: 'middleware/etag.js' },
    },
    {
      name: 'big ctx.body, serialized by Koa',
      ask: (client) => client.get('/bookings?count=45000'),
      right: { packages: ['koa'] },
    },
  ],
};
