// @ts-nocheck: an application as there are many.
const _ = require('lodash');
const { produce } = require('immer');
const R = require('ramda');
const underscore = require('underscore');
const { orders } = require('./data.cjs');

function copyOrders(list) {
  return _.cloneDeep(list);
}

function mergeSettings(list) {
  const merged = _.merge({}, { list }, { list });
  return merged.list.length;
}

function sortOrders(list) {
  return _.sortBy(list, ['customer', 'placed']);
}

const byCity = (list) => _.groupBy(list, (each) => `${each.address.city} ${each.customer}`);

function findChanges(list) {
  return _.differenceWith(list, list.slice(), _.isEqual).length;
}

async function cacheOrders(list) {
  const copy = _.cloneDeep(list);
  return copy.length;
}

function discount(list) {
  return produce(list, (draft) => {
    for (const each of draft) each.items[0].price *= 0.9;
  });
}

const groupByCity = (list) =>
  R.pipe(R.map(R.pick(['id', 'customer', 'items'])), R.groupBy(R.prop('customer')))(list);

class Warehouse {
  constructor(list) {
    this.list = list;
  }
  index() {
    return underscore.indexBy(underscore.sortBy(this.list, 'customer'), 'email');
  }
}

module.exports = {
  'lodash cloneDeep': { change: copyOrders, size: 10_000, make: orders },
  'lodash merge': { change: mergeSettings, size: 5000, make: orders },
  'lodash sortBy': { change: sortOrders, size: 30_000, make: orders },
  'lodash groupBy': { change: byCity, size: 300_000, make: orders },
  'lodash differenceWith': { change: findChanges, size: 1000, make: orders },
  'lodash cloneDeep in an async function': {
    change: cacheOrders,
    size: 10_000,
    make: orders,
    asynchronous: true,
  },
  // Its recipe has no name: most of the time is immer's, below it.
  immer: { change: discount, size: 10_000, make: orders },
  ramda: { change: groupByCity, size: 50_000, make: orders },
  underscore: {
    change: { name: 'Warehouse.index' },
    size: 50_000,
    make: (n) => new Warehouse(orders(n)),
    run: (warehouse) => warehouse.index(),
  },
};
