// A back office: orders are exported, imported and printed.
const { createHash } = require('node:crypto');
const Hapi = require('@hapi/hapi');
const Vision = require('@hapi/vision');
const Joi = require('joi');
const orders = require('./orders');
const reports = require('./reports');
const imports = require('./imports');

async function main() {
  const server = Hapi.server({ port: process.env.PORT, host: '127.0.0.1' });
  await server.register(Vision);
  server.views({
    engines: { html: require('handlebars') },
    path: `${__dirname}/templates`,
    helpersPath: `${__dirname}/helpers`,
    isCached: true,
  });

  server.ext('onPreResponse', (request, h) => {
    const { response } = request;
    if (request.route.settings.app.etag && !response.isBoom) {
      const body = JSON.stringify(response.source);
      const tag = createHash('sha1').update(body).digest('hex');
      return h.response(body).type('application/json').etag(tag);
    }
    return h.continue;
  });

  const upload = { payload: { maxBytes: 64 * 1024 * 1024, parse: false } };
  server.route([
    { method: 'GET', path: '/', handler: () => 'ok' },
    {
      method: 'GET',
      path: '/orders.xlsx',
      handler: async (request, h) => {
        const file = await reports.exportWorkbook(orders.list(4000));
        return h.response(file).type('application/vnd.ms-excel');
      },
    },
    {
      method: 'GET',
      path: '/invoices.pdf',
      handler: async (request, h) =>
        h.response(await reports.printInvoices(orders.list(900))).type('application/pdf'),
    },
    {
      method: 'GET',
      path: '/labels.pdf',
      handler: async (request, h) =>
        h.response(await reports.printLabels(orders.list(2500))).type('application/pdf'),
    },
    {
      method: 'GET',
      path: '/orders.html',
      handler: (request, h) => h.view('orders', { orders: orders.list(1500) }),
    },
    {
      method: 'GET',
      path: '/orders.json',
      options: { app: { etag: true } },
      handler: () => orders.list(25000),
    },
    {
      method: 'POST',
      path: '/import.xlsx',
      options: upload,
      handler: (request) => imports.readWorkbook(request.payload),
    },
    {
      method: 'POST',
      path: '/import.xml',
      options: upload,
      handler: (request) => imports.readFeed(request.payload),
    },
    {
      method: 'POST',
      path: '/import.csv',
      options: upload,
      handler: (request) => {
        const rows = imports.readCsv(request.payload);
        return { rows: rows.length };
      },
    },
    {
      method: 'POST',
      path: '/orders',
      options: {
        payload: { maxBytes: 64 * 1024 * 1024 },
        validate: {
          payload: Joi.array().items(
            Joi.object({
              id: Joi.number().integer().required(),
              customer: Joi.string().min(1).max(80).required(),
              email: Joi.string().email(),
              total: Joi.number().min(0),
              placedAt: Joi.date().iso(),
              lines: Joi.array().items(
                Joi.object({
                  sku: Joi.string(),
                  text: Joi.string(),
                  quantity: Joi.number(),
                  price: Joi.number(),
                }),
              ),
            }),
          ),
        },
      },
      handler: (request) => ({ accepted: request.payload.length }),
    },
    {
      method: 'GET',
      path: '/duplicates',
      handler: async () => {
        await new Promise((resolve) => setTimeout(resolve, 5));
        const all = orders.list(2500);
        return all.filter(({ email, id }) =>
          all.some((other) => other.id > id && other.email.toLowerCase() === email.toLowerCase()),
        ).length;
      },
    },
  ]);
  await server.start();
  console.log(`listening on ${server.info.port}`);
  process.on('SIGTERM', async () => {
    await server.stop({ timeout: 2000 });
    console.log('stopped');
    process.exit(0);
  });
}

main();
