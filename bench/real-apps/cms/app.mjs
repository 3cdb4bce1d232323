// Express 4 with EJS, Pug, uploads and HTML tools: a content management system.
import { createRequire } from 'node:module';
import { join } from 'node:path';

const markdown = Array.from(
  { length: 700 },
  (_, i) =>
    `## Part ${i}\n\nSome *text* with <b onclick="x()">html</b>, [a link](https://example.com/${i}) and \`code\`.\n\n| a | b |\n|---|---|\n| ${i} | ${i * 2} |\n`,
).join('\n');
const page = `<html><head><title>Links</title></head><body>${Array.from({ length: 1500 }, (_, i) => `<div class="card c${i % 9}"><h3>Card ${i}</h3><p>Text <a href="/a/${i}" rel="nofollow">link ${i}</a></p></div>`).join('')}</body></html>`;
const html = { headers: { 'content-type': 'text/html' }, method: 'POST' };
/** @type {Buffer | undefined} */
let picture;

/** @type {import('../support/launch.mjs').App} */
export default {
  title: 'Express with EJS, Pug and jimp',
  args: () => ['server.js'],
  ready: '/health',
  prepare: async ({ folder }) => {
    const { Jimp } = createRequire(join(folder, 'package.json'))('jimp');
    const image = new Jimp({ width: 1300, height: 900, color: 0x3366ccff });
    for (let i = 0; i < 900; i++) image.setPixelColor(0xff0000ff, i, i);
    picture ??= await image.getBuffer('image/png');
  },
  cases: [
    {
      name: 'EJS page with a slow helper',
      ask: (client) => client.get('/products'),
      right: { file: 'helpers/format.js', in: ['function formatPrice'] },
    },
    {
      name: 'EJS page with a quadratic filter in the template',
      ask: (client) => client.get('/related'),
      right: { file: 'views/related.ejs' },
    },
    {
      name: 'Pug page of many orders',
      ask: (client) => client.get('/orders'),
      right: { file: 'routes/orders.js' },
    },
    {
      name: 'jimp makes thumbnails of an upload',
      ask: (client) => {
        const form = new FormData();
        form.append('photo', new Blob([/** @type {any} */ (picture)]), 'photo.png');
        return client.get('/photos', { method: 'POST', body: form });
      },
      right: [
        { file: 'services/images.js' },
        { packages: ['jimp', '@jimp/core', '@jimp/js-png', 'pngjs'] },
      ],
    },
    {
      name: 'markdown-it and sanitize-html',
      ask: (client) => client.get('/articles', { json: { markdown } }),
      right: { file: 'services/articles.js', in: ['render('] },
    },
    {
      name: 'jsdom on a fetched page',
      ask: (client) => client.get('/links', { ...html, body: page }),
      right: { file: 'services/scraper.js', in: ['function extractLinks'] },
    },
    {
      name: 'cheerio on a fetched page',
      ask: (client) => client.get('/summary', { ...html, body: page.repeat(3) }),
      right: { file: 'services/scraper.js', in: ['function summarize'] },
    },
    {
      name: 'search index, built in chunks of setImmediate that are too big',
      ask: async (client) => {
        await client.get('/reindex', { method: 'POST' });
        await new Promise((resolve) => setTimeout(resolve, 1200));
      },
      right: { file: 'services/search-index.js' },
    },
    {
      name: 'audit of the body when the answer is finished',
      ask: (client) => client.get('/audited', { json: { markdown } }),
      right: { file: 'middleware/audit.js' },
    },
  ],
};
