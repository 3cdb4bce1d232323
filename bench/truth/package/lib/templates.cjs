// @ts-nocheck: an application as there are many.
const Handlebars = require('handlebars');
const mustache = require('mustache');
const nunjucks = require('nunjucks');
const pug = require('pug');
const { orders } = require('./data.cjs');

const list = Handlebars.compile(
  '{{#each orders}}<tr><td>{{id}}</td><td>{{customer}}</td>{{#each items}}<td>{{sku}}</td>{{/each}}</tr>{{/each}}',
);
const table = pug.compile(
  'table\n  each order in orders\n    tr\n      td= order.id\n      td= order.customer\n      td= order.email',
);
const letter = nunjucks.compile(
  '{% for order in orders %}<li>{{ order.id }} {{ order.customer | upper }} {{ order.address.city }}</li>{% endfor %}',
);

const rates = Array.from({ length: 10_000 }, (_, i) => ({ from: i / 100, rate: 1 + i / 1000 }));
/** The slow helper of a fast template. */
function taxOf(price) {
  let tax = 0;
  for (const { from, rate } of rates) if (price > from) tax = Math.round(price * rate * 100) / 100;
  return tax;
}
Handlebars.registerHelper('tax', taxOf);
const taxes = Handlebars.compile(
  '{{#each orders}}{{#each items}}<td>{{tax price}}</td>{{/each}}{{/each}}',
);

exports.listPage = function listPage(data) {
  return list({ orders: data });
};

function mailText(data) {
  const text = mustache.render('{{#orders}}{{id}}: {{customer}}, {{address.city}}\n{{/orders}}', {
    orders: data,
  });
  return text.length;
}

function sendLetters(data) {
  return letter.render({ orders: data });
}

const orderTable = (data) => table({ orders: data });

module.exports = {
  handlebars: { change: exports.listPage, size: 5000, make: orders },
  'handlebars, a slow helper': {
    change: taxOf,
    size: 500,
    make: orders,
    run: (data) => taxes({ orders: data }),
  },
  mustache: { change: mailText, size: 10_000, make: orders },
  nunjucks: { change: sendLetters, size: 10_000, make: orders },
  pug: { change: orderTable, size: 20_000, make: orders },
};
