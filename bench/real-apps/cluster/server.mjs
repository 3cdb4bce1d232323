import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import { minify } from './middleware.mjs';
import { router } from './routes.mjs';

const app = new Koa();
app.use(bodyParser({ jsonLimit: '64mb' }));
app.use(minify);
app.use(router.routes());
const server = app.listen(Number(process.env.PORT), '127.0.0.1');
process.on('SIGTERM', () => {
  server.close(() => process.exit(0));
  server.closeAllConnections();
});
