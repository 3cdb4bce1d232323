// @ts-nocheck: an application as there are many.
const { buildSchema, execute, parse, graphqlSync } = require('graphql');
const Fuse = require('fuse.js');
const { diffLines } = require('diff');
const { orders, prose } = require('./data.cjs');

const schema = buildSchema(`
  type Item { sku: String, price: Float }
  type Order { id: Int, customer: String, total: Float, items: [Item] }
  type Query { orders: [Order] }
`);
const query = '{ orders { id customer total items { sku price } } }';
const total = (source) => source.items[0].price;

function answerQuery(list) {
  const rootValue = { orders: () => list };
  return graphqlSync({ schema, source: query, rootValue });
}

async function answerLater(list) {
  const result = await execute({
    schema,
    document: parse(query),
    rootValue: { orders: async () => list.map((each) => ({ ...each, total: () => total(each) })) },
  });
  return result.data.orders.length;
}

class Catalogue {
  #fuse;
  constructor(list) {
    this.#fuse = new Fuse(list, { keys: ['customer', 'address.street'], ignoreLocation: true });
  }
  search(text) {
    const hits = this.#fuse.search(text);
    return hits.slice(0, 10);
  }
}

function showChanges([before, after]) {
  return diffLines(before, after);
}

module.exports = {
  graphql: { change: answerQuery, size: 5000, make: orders },
  // Its executor runs when the promise of the rows is there: nothing of the application is on the
  // stack but what awaits.
  'graphql, asynchronous': { change: answerLater, size: 5000, make: orders, asynchronous: true },
  'fuse.js': {
    change: { name: 'Catalogue.search' },
    size: 2000,
    make: (n) => new Catalogue(orders(n)),
    run: (catalogue) => catalogue.search('customer 71 Main'),
  },
  diff: {
    change: showChanges,
    size: 150,
    make: (n) => [prose(n), prose(n).replaceAll(/[05]/g, 'x')],
  },
};
