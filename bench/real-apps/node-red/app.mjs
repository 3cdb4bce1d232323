// Node-RED, the whole product: flows of its own nodes, function nodes, and a node of the company's.
import { writeFileSync } from 'node:fs';
import { flows } from './flows.mjs';

const items = (/** @type {number} */ count) =>
  Array.from({ length: count }, (_, i) => ({
    sku: `sku-${i % 90}`,
    name: `Item ${(i * 7919) % count}`,
    price: (i * 13) % 500,
    tags: ['new', `group ${i % 12}`],
  }));
const text = (/** @type {string} */ type, /** @type {string} */ body) => ({
  method: 'POST',
  headers: { 'content-type': type },
  body,
});
const csv = `name,price,text\n${items(6000)
  .map(({ name, price }) => `${name},${price},"a ""quoted"" text, with ${price}"`)
  .join('\n')}\n`;
const xml = `<orders>${items(900)
  .map(({ name, price }) => `<order price="${price}"><name>${name}</name></order>`)
  .join('')}</orders>`;
const yaml = items(700)
  .map(({ name, price }) => `- name: ${name}\n  price: ${price}\n  tags: [a, b]\n`)
  .join('');
const html = `<html><body>${items(1200)
  .map(
    ({ name, sku }) =>
      `<div class="card"><p>${name} <a href="/${sku}" rel="nofollow">x</a></p></div>`,
  )
  .join('')}</body></html>`;
const points = Array.from({ length: 1500 }, (_, i) => [(i * 37) % 1009, (i * 91) % 997]);
const NODES = '@node-red/nodes/core';

/** @type {import('../support/launch.mjs').App} */
export default {
  title: 'Node-RED',
  args: ({ data }) => [
    'node_modules/node-red/red.js',
    '--userDir',
    data,
    '--settings',
    'settings.js',
    `${data}/flows.json`,
  ],
  prepare: ({ data }) => writeFileSync(`${data}/flows.json`, JSON.stringify(flows())),
  dispatchers: ['@node-red/runtime', '@node-red/util/lib/hooks.js'],
  ready: '/health',
  cases: [
    {
      name: 'csv node, 4 at once',
      ask: (client) => client.together(4, '/csv', text('text/plain', csv)),
      right: { packages: [`${NODES}/parsers/70-CSV.js`, `${NODES}/parsers/lib`] },
    },
    {
      name: 'xml node, 6 at once',
      ask: (client) => client.together(6, '/xml', text('text/plain', xml)),
      right: { packages: [`${NODES}/parsers/70-XML.js`, 'xml2js'] },
    },
    {
      name: 'yaml node, 6 at once',
      ask: (client) => client.together(6, '/yaml', text('text/plain', yaml)),
      right: { packages: [`${NODES}/parsers/70-YAML.js`, 'js-yaml'] },
    },
    {
      name: 'json nodes, 6 at once',
      ask: (client) =>
        client.together(6, '/json', text('text/plain', JSON.stringify(items(20000)))),
      right: { packages: [`${NODES}/parsers/70-JSON.js`] },
    },
    {
      name: 'html node, 4 at once',
      ask: (client) => client.together(4, '/links', text('text/plain', html)),
      right: { packages: [`${NODES}/parsers/70-HTML.js`, 'cheerio'] },
    },
    {
      name: 'JSONata in a change node, 4 at once',
      ask: (client) => client.together(4, '/totals', { json: items(900) }),
      right: { packages: ['@node-red/util/lib/jsonata.js', `${NODES}/function/15-change.js`] },
    },
    {
      name: 'template node of a large list, 8 at once',
      ask: (client) => client.together(8, '/page', { method: 'POST' }),
      right: { packages: [`${NODES}/function/80-template.js`, 'mustache'] },
    },
    {
      name: 'split and join of many messages, 4 at once',
      ask: (client) => client.together(4, '/split', { json: items(1500) }),
      right: { packages: [`${NODES}/sequence/17-split.js`] },
    },
    {
      name: 'sort node with JSONata, 4 at once',
      ask: (client) => client.together(4, '/sorted', { json: items(1500) }),
      right: { packages: ['@node-red/util/lib/jsonata.js', `${NODES}/sequence/18-sort.js`] },
    },
    {
      name: 'function node with a quadratic loop, 4 at once',
      ask: (client) => client.together(4, '/duplicates', { json: items(3000) }),
      right: { file: 'Function node:duplicates [duplicates]' },
    },
    {
      name: 'function node that calls a helper, among 19 others',
      ask: (client) => client.among(19, '/health', '/quote', { json: items(5000) }),
      right: { file: 'lib/pricing.js', in: ['function quote'] },
    },
    {
      name: 'node of the company, among 19 others',
      ask: (client) => client.among(19, '/health', '/geo', { json: points }),
      right: { file: 'nodes/geo.js', in: ['function nearestPairs'] },
    },
    {
      name: 'function node behind a delay, 5 at once',
      ask: async (client) => {
        await client.together(5, '/later', { json: items(6000) });
        await new Promise((resolve) => setTimeout(resolve, 1500));
      },
      right: { file: 'Function node:audit [audit]' },
    },
  ],
};
