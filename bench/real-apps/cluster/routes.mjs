import { gzipSync } from 'node:zlib';
import Router from '@koa/router';
import Ajv from 'ajv';
import nunjucks from 'nunjucks';
import { loadDeployments } from './deployments.mjs';
import { localDate } from './filters.mjs';
import { summarize } from './statistics.mjs';

const templates = new nunjucks.Environment(
  new nunjucks.FileSystemLoader(new URL('.', import.meta.url).pathname),
);
templates.addFilter('localDate', localDate);
const rows = Array.from({ length: 9000 }, (_, i) => ({
  id: i,
  name: `Row ${i}`,
  cells: [i, i * 2, i % 7],
  at: 1.7e12 + i * 864e5,
}));

export const router = new Router();
router.get('/health', (context) => {
  context.body = 'ok';
});
router.post('/validate', (context) => {
  const properties = {};
  for (let i = 0; i < context.request.body.fields; i++)
    properties[`field${i}`] = {
      type: 'object',
      required: ['a'],
      properties: { a: { type: 'string', pattern: `^x${i}` }, b: { enum: ['one', 'two', i] } },
    };
  const validate = new Ajv({ allErrors: true }).compile({ type: 'object', properties });
  context.body = { valid: validate({ field1: { a: 'y' } }), errors: validate.errors?.length };
});
router.get('/deployments', async (context) => {
  context.body = await loadDeployments();
});
router.get('/report', (context) => {
  context.type = 'text/plain';
  context.body = templates.render('report.njk', { rows });
});
router.get('/calendar', (context) => {
  context.type = 'text/plain';
  context.body = templates.render('calendar.njk', { rows: rows.slice(0, 700) });
});
router.get('/percentiles', (context) => {
  context.body = summarize();
});
router.post('/bulk', (context) => {
  context.body = { count: context.request.body.length };
});
router.get('/page', (context) => {
  context.body =
    '<div class="row" hidden="">  <!-- x -->\n   <span id="a">text</span>   </div>\n'.repeat(25000);
});
router.get('/backup', (context) => {
  const lines = rows.map((row) => JSON.stringify({ ...row, note: row.name.repeat(9) })).join('\n');
  context.body = gzipSync(lines, { level: 9 });
});
