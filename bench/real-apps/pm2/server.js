const { readFileSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { inspect } = require('node:util');
const { gunzip, gzipSync } = require('node:zlib');
const express = require('express');
const _ = require('lodash');
const Papa = require('papaparse');
const { openingHours } = require('./calendar');
const { rank, stem } = require('./search');
const { authenticate } = require('./sessions');

const products = Array.from({ length: 12000 }, (_each, i) => ({
  id: i,
  name: `Product ${i}`,
  kind: ['a', 'b', 'c'][i % 3],
  isNew: i % 5 === 0,
  price: i / 7,
  tags: [`t${i % 9}`, `t${i % 11}`],
  stock: { Berlin: i % 7, Paris: i % 5 },
}));
const lines = join(tmpdir(), `pm2-shop-${process.pid}.log`);
writeFileSync(
  lines,
  products
    .map((product) => JSON.stringify(product))
    .join('\n')
    .repeat(4),
);
const packed = gzipSync(JSON.stringify(products));

const app = express();
app.set('view engine', 'pug');
app.set('views', join(__dirname, 'views'));
app.use(express.json({ limit: '16mb' }), express.text({ type: 'text/csv', limit: '16mb' }));

app.get('/health', (request, response) => response.send('ok'));
app.get('/catalogue', (request, response) => {
  response.render('catalogue', { products: products.slice(0, 1500) });
});
app.post('/import', (request, response) => {
  const { data } = Papa.parse(request.body, { header: true, dynamicTyping: true });
  response.json({ rows: data.length });
});
app.post('/stem', (request, response) => response.json(stem(request.body.text)));
app.get('/rank', (request, response) => response.json(rank()));
app.get('/session', authenticate, (request, response) => response.json({ user: request.user }));
app.get('/calendar', (request, response) => response.json(openingHours()));
app.get('/compare', (request, response) => {
  const copy = _.cloneDeep(products);
  const changed = copy.filter((product, i) => !_.isEqual(product, products[i]));
  response.json({ changed: changed.length });
});
app.get('/fails', (request, response, next) => {
  const error = new Error('out of stock');
  error.products = products;
  next(error);
});
app.post('/unzip', (request, response, next) => {
  gunzip(packed, (error, content) => {
    if (error) return next(error);
    const all = JSON.parse(content.toString());
    const found = all.filter(({ name }) => /^(.*\D)?77+\d*$/.test(name));
    const byKind = _.groupBy(_.sortBy(all, ['kind', 'price', 'name']), 'kind');
    response.json({ found: found.length, kinds: Object.keys(byKind) });
  });
});
app.get('/log', (request, response) => {
  const entries = readFileSync(lines, 'utf8')
    .split('\n')
    .map((line) => line.split('"name":"')[1]);
  response.json({ entries: entries.length });
});
app.use(function reportError(error, request, response, _next) {
  const text = inspect(error, { depth: 4, maxArrayLength: 2500, showHidden: true });
  response.status(500).json({ error: text.length });
});
const server = app.listen(process.env.PORT, '127.0.0.1');
process.on('SIGINT', () => {
  server.close(() => process.exit(0));
  server.closeAllConnections();
});
