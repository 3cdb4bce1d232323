// @ts-nocheck: an application as there are many.
/** Made-up data for the modules beside it. */
const order = (_, id) => ({
  id,
  customer: `customer ${(id * 7919) % 1000}`,
  email: `someone${id}@example.com`,
  placed: new Date(1.7e12 + id * 60_000).toISOString(),
  items: [{ sku: `sku-${id % 97}`, price: (id % 100) + 0.5, tags: ['new', 'paid'] }],
  address: { street: `${id} Main Street`, city: 'Berlin', zip: String(10_000 + (id % 9000)) },
});
const orders = (n) => Array.from({ length: n }, order);
const csv = (n) =>
  orders(n)
    .map(({ id, customer, email, placed }) => `${id},"${customer}",${email},${placed}`)
    .join('\n');
const code = (n) =>
  Array.from(
    { length: n },
    (_, i) => `export function add${i}(a: number, b = ${i}) {\n  return a + b * ${i}; // sum\n}`,
  ).join('\n');
const script = (n) =>
  Array.from(
    { length: n },
    (_, i) => `function add${i}(a, b) {\n  var sum = a + b * ${i};\n  return sum;\n}`,
  ).join('\n');
const prose = (n) =>
  Array.from(
    { length: n },
    (_, i) =>
      `## Chapter ${i}\n\nSome *text* with [a link](/p/${i}) and \`code\`.\n\n- one\n- two\n`,
  ).join('\n');
const html = (n) =>
  Array.from(
    { length: n },
    (_, i) =>
      `<div class="row"><a href="/p/${i}" onclick="x()">Item <b>${i}</b></a><p>text</p></div>`,
  ).join('');
const xml = (n) =>
  `<orders>${Array.from(
    { length: n },
    (_, i) => `<order id="${i}"><name>customer ${i}</name><price>${i}.5</price></order>`,
  ).join('')}</orders>`;

module.exports = { code, csv, html, order, orders, prose, script, xml };
