const express = require('express');
const orders = require('./orders');
const { watch } = require('./search-index');

const app = express();
app.use(express.json());
const answer = (make) => (request, response, next) =>
  make(request).then((result) => response.json(result), next);

app.get('/health', (request, response) => response.send('ok'));
app.post(
  '/orders/import',
  answer((request) => orders.importOrders(request.body.count)),
);
app.get(
  '/orders/by-words',
  answer(() => orders.byWords()),
);
app.get(
  '/orders/summary',
  answer(() => orders.summarize()),
);
app.get(
  '/orders/find',
  answer(() => orders.find()),
);
app.get(
  '/orders/replicate',
  answer(() => orders.replicate()),
);
app.post(
  '/orders/touch',
  answer(() => orders.touch()),
);
app.get('/orders', async (request, response) => {
  const all = await orders.all();
  response.json(
    all.map((order) => ({
      ...order,
      lines: order.lines.map((line) => ({ ...line, text: order.text })),
    })),
  );
});

orders.seed(3000).then(() => {
  watch(orders.db);
  const server = app.listen(process.env.PORT, '127.0.0.1', () => console.log('listening'));
  process.on('SIGTERM', () => {
    server.close();
    server.closeAllConnections();
    setTimeout(() => process.exit(0), 50);
  });
});
