// Hapi with libraries that make and read reports.
import { createRequire } from 'node:module';
import { join } from 'node:path';

const csv = `id,customer,email,total\n${Array.from({ length: 9000 }, (_, i) => `${i},"Customer ${i}",c${i}@example.com,${i / 7}`).join('\n')}`;
const xml = `<feed>${Array.from({ length: 4000 }, (_, i) => `<item id="${i}"><name>Article &amp; ${i}</name><price>${i / 3}</price></item>`).join('')}</feed>`;
const orders = Array.from({ length: 1500 }, (_, i) => ({
  id: i,
  customer: `Customer ${i}`,
  email: `c${i}@example.com`,
  total: i / 3,
  placedAt: new Date(1.7e12 + i * 6e4).toISOString(),
  lines: [{ sku: `SKU-${i}`, text: 'text', quantity: 1, price: 2 }],
}));
const upload = { headers: { 'content-type': 'application/octet-stream' }, method: 'POST' };

function workbook(/** @type {import('../support/client.mjs').Client} */ client) {
  const XLSX = client.load('xlsx');
  const book = XLSX.utils.book_new();
  const rows = orders.map(({ lines, ...order }) => order);
  XLSX.utils.book_append_sheet(book, XLSX.utils.json_to_sheet(rows));
  return XLSX.write(book, { type: 'buffer', bookType: 'xlsx' });
}
/** @type {Buffer | undefined} */
let sheet;

/** @type {import('../support/launch.mjs').App} */
export default {
  title: 'Hapi with report libraries',
  args: () => ['server.js'],
  prepare: ({ folder }) => {
    sheet ??= workbook(/** @type {any} */ ({ load: createRequire(join(folder, 'package.json')) }));
  },
  cases: [
    {
      name: 'exceljs workbook, before and after await',
      ask: (client) => client.get('/orders.xlsx'),
      varies: true,
      right: [{ file: 'reports.js', in: ['function exportWorkbook'] }, { packages: ['exceljs'] }],
    },
    {
      name: 'pdfkit, a helper for each order',
      ask: (client) => client.get('/invoices.pdf'),
      varies: true,
      right: { file: 'reports.js', in: ['function printInvoices', 'function printInvoice('] },
    },
    {
      name: 'pdf-lib, loaded when it is needed',
      ask: (client) => client.get('/labels.pdf'),
      varies: true,
      right: [{ file: 'reports.js', in: ['function printLabels'] }, { packages: ['pdf-lib'] }],
    },
    {
      name: 'handlebars template with a slow helper',
      ask: (client) => client.get('/orders.html'),
      right: { file: 'helpers/money.js', in: ['function money'] },
    },
    {
      name: 'JSON and hash in onPreResponse',
      ask: (client) => client.get('/orders.json'),
      right: { file: 'server.js', in: ["server.ext('onPreResponse'"] },
    },
    {
      name: 'SheetJS read',
      ask: (client) => client.get('/import.xlsx', { ...upload, body: sheet }),
      right: { file: 'imports.js', in: ['exports.readWorkbook'] },
    },
    {
      name: 'fast-xml-parser',
      ask: (client) => client.get('/import.xml', { ...upload, body: xml }),
      right: { file: 'imports.js', in: ['exports.readFeed'] },
    },
    {
      name: 'csv-parse/sync',
      ask: (client) => client.get('/import.csv', { ...upload, body: csv }),
      right: { file: 'imports.js', in: ['function readCsv'] },
    },
    {
      name: 'joi validation of the route, before the handler',
      ask: (client) => client.get('/orders', { json: orders }),
      right: { packages: ['joi', '@hapi/hapi'] },
    },
    {
      name: 'quadratic filter after await',
      ask: (client) => client.get('/duplicates'),
      right: { file: 'server.js', in: ['handler: async () => {'] },
    },
  ],
};
