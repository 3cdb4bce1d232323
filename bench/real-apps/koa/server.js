import Router from '@koa/router';
import jsonpatch from 'fast-json-patch';
import Koa from 'koa';
import { koaBody } from 'koa-body';
import { freeSlots } from './lib/calendar.js';
import { diffLists } from './lib/documents.js';
import { TokenIssuer } from './lib/tokens.js';
import { etag } from './middleware/etag.js';
import { bookingsSchema, validate } from './middleware/validate.js';
import { Accounts } from './services/accounts.js';
import { bookings } from './services/bookings.js';
import { occupancy } from './services/reports.js';

const app = new Koa();
const router = new Router();
const accounts = new Accounts();
const issuer = new TokenIssuer();

router.get('/health', (ctx) => {
  ctx.body = 'ok';
});
router.post('/accounts', async (ctx) => {
  ctx.body = { registered: await accounts.register(ctx.request.body) };
});
router.post('/login', async (ctx) => {
  const { email, password } = ctx.request.body;
  ctx.body = { ok: accounts.login(email, password) };
});
router.get('/devices/tokens', async (ctx) => {
  const devices = Array.from({ length: Number(ctx.query.count) }, (_, i) => `device-${i}`);
  ctx.body = issuer.issueAll(devices);
});
router.post('/bookings', validate(bookingsSchema), (ctx) => {
  ctx.body = { accepted: ctx.request.body.length };
});
router.get('/bookings', async (ctx) => {
  ctx.body = bookings.slice(0, Number(ctx.query.count));
});
router.get('/cached/bookings', etag(), async (ctx) => {
  await new Promise((resolve) => setTimeout(resolve, 2));
  ctx.body = bookings.slice(0, 25000);
});
router.get('/calendar', (ctx) => {
  ctx.body = freeSlots(ctx.query.zone, 30);
});
router.get('/reports/occupancy', async (ctx) => {
  ctx.body = await occupancy();
});
router.post('/documents/patch', (ctx) => {
  const { before, after } = ctx.request.body;
  ctx.body = jsonpatch.compare(before, after).length;
});
router.post('/documents/diff', (ctx) => {
  const { before, after } = ctx.request.body;
  ctx.body = diffLists(before, after);
});

app.use(koaBody({ jsonLimit: '32mb', multipart: false }));
app.use(router.routes());
app.use(router.allowedMethods());
const server = app.listen(Number(process.env.PORT), process.env.HOST);
process.on('SIGTERM', () => {
  server.close(() => console.log('closed'));
  server.closeIdleConnections();
});
