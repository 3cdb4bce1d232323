import express from 'express';
import { rollupBundle, webpackBundle } from './tools/bundle.mjs';
import { lint, verify, verifyOwn } from './tools/lint.mjs';
import {
  compileTypeScript,
  formatCode,
  minifyCode,
  minifyCss,
  transpile,
} from './tools/minify.mjs';

const app = express();
app.use(express.text({ limit: '16mb' }));
app.get('/health', (request, response) => response.send('ok'));
const routes = {
  '/lint': (text) => lint(text),
  '/verify': (text) => verify(text),
  '/own-rule': (text) => verifyOwn(text),
  '/webpack': (text) => webpackBundle(text, false),
  '/webpack-loader': (text) => webpackBundle(text, true),
  '/rollup': (text) => rollupBundle(text, false),
  '/rollup-plugin': (text) => rollupBundle(text, true),
  '/minify': (text) => minifyCode(text),
  '/babel': (text) => transpile(text),
  '/format': (text) => formatCode(text),
  '/css': (text) => minifyCss(text),
  '/typescript': (text) => compileTypeScript(text),
};
for (const [path, make] of Object.entries(routes))
  app.post(path, async (request, response) => {
    response.json(await make(request.body));
  });
const server = app.listen(Number(process.env.PORT), '127.0.0.1');
process.on('SIGTERM', () => {
  server.close(() => process.exit(0));
  server.closeAllConnections();
});
