// @ts-nocheck: an application as there are many.
/**
 * The same kinds of work where an application has them: in callbacks, chains, nested helpers, in
 * two phases.
 */
const { createHash, pbkdf2Sync } = require('node:crypto');
const { EventEmitter } = require('node:events');
const path = require('node:path');
const { gzipSync } = require('node:zlib');
const _ = require('lodash');
const { marked } = require('marked');
const { orders, prose } = require('./data.cjs');
const { forEachOrder, retry, timed } = require('./helpers.cjs');

const whole = (n) => Math.ceil(n);

// --- two phases: the heavier one, and the line in it

function checkRows(list) {
  let bad = 0;
  for (const { email } of list)
    for (let i = 0; i < 20; i++) if (/^[^@]+@[^@]+\.org$/.test(email + i)) bad++;
  return bad;
}

function checkAndSign(list) {
  const bad = checkRows(list.slice(0, list.length / 20));
  const key = pbkdf2Sync('secret', String(bad), list.length * 20, 64, 'sha512'); // <- the line of 'JavaScript, then native'
  return key.length;
}

function packAndCheck(list) {
  const packed = gzipSync(JSON.stringify(list.slice(0, list.length / 20)));
  const bad = countBad(list);
  return packed.length + bad;
}

function countBad(list) {
  let bad = 0;
  for (const { email } of list)
    for (let i = 0; i < 60; i++) if (/^[^@]+@[^@]+\.org$/.test(email + i)) bad++;
  return bad;
}

function archiveOrders(list) {
  const text = JSON.stringify(list);
  const packed = gzipSync(text, { level: 9 }); // <- the line of 'two lines of one function'
  return packed.length;
}

// --- nested helpers of the application

function summarize(list) {
  return timed('summary', () => {
    const copy = _.cloneDeep(list);
    return copy.length;
  });
}

function indexWords(list) {
  const words = new Map();
  forEachOrder(list, ({ customer, address }) => {
    for (const word of `${customer} ${address.street}`.split(' ')) {
      const seen = words.get(word) ?? [];
      if (!seen.includes(customer)) seen.push(customer);
      words.set(word, seen);
    }
  });
  return words.size;
}

const publish = (text) => retry(2, () => renderAll(text));
function renderAll(text) {
  return marked.parse(text).length;
}

// --- recursion

const tree = (n, depth = 5) => ({
  name: `node ${n}`,
  children: depth === 0 ? [] : Array.from({ length: Math.ceil(n) }, () => tree(n, depth - 1)),
});

function sizeOf(node) {
  return node.children.reduce((sum, child) => sum + sizeOf(child), [...node.name].sort().length);
}

function flatten(node) {
  return _.flatMap([node], (each) => [each.name, ..._.flatMap(each.children, flatten)]);
}

// --- promise chains

const steps = (list) =>
  Promise.resolve(list)
    .then(function pickPaid(all) {
      return all.filter(({ items }) => items[0].tags.includes('paid'));
    })
    .then(function priceAll(paid) {
      return paid.map((each) => _.set(_.cloneDeep(each), 'address.country.code', 'DE'));
    })
    .then((all) => all.length);

async function importOrders(list) {
  let done = 0;
  for (const each of list) done += await importOrder(each);
  return done;
}
async function importOrder(each) {
  const hash = createHash('sha1');
  for (let i = 0; i < 20; i++) hash.update(each.email + i);
  return hash.digest()[0];
}

async function afterAnAwait(list) {
  await null;
  return sortByCity(list);
}
function sortByCity(list) {
  return _.orderBy(list, ['address.zip', 'customer'], ['desc', 'asc']);
}

// --- without a name

const bus = new EventEmitter();
bus.on('orders', (list) => {
  const pairs = [];
  for (const { customer } of list) {
    const isKnown = pairs.includes(customer); // <- the line of 'anonymous listener'
    if (!isKnown) pairs.push(customer + pairs.length);
  }
  return pairs;
});
bus.on('prose', (text) => marked.lexer(text)); // <- the line of 'anonymous arrow, a library in its last expression'

const jobs = [
  () => undefined,
  (list) => {
    return JSON.parse(JSON.stringify(list)); // <- the line of 'anonymous function, JSON of JSON'
  },
];

// --- modules when they are needed

/** As in a new process. */
function forget(name) {
  const folder = `${path.sep}node_modules${path.sep}${name}${path.sep}`;
  for (const file of Object.keys(require.cache))
    if (file.includes(folder)) delete require.cache[file];
}

function openEditor() {
  return require('typescript').version;
}

const sumUp = () => {
  const { evaluate } = require('mathjs');
  return evaluate('1 + 1');
};

// --- memory

/** Much of its time goes into moving what it keeps. */
function collectEvents(n) {
  let latest;
  for (let id = 0; id < n; id++) latest = { id, before: latest, tags: [id] };
  return latest.id;
}

module.exports = {
  'JavaScript, then native': { change: checkAndSign, line: true, size: 5000, make: orders },
  'native, then JavaScript': { change: countBad, size: 5000, make: orders, run: packAndCheck },
  'two lines of one function': { change: archiveOrders, line: true, size: 5000, make: orders },
  'helper that times': { change: summarize, size: 10_000, make: orders },
  'helper that iterates': {
    change: indexWords,
    size: 3000,
    make: orders,
  },
  'helper that tries again': { change: renderAll, size: 2000, make: prose, run: publish },
  'recursion by reduce': { change: sizeOf, size: 4, make: tree, grow: (n) => n + 1 },
  'recursion through lodash': { change: flatten, size: 4, make: tree, grow: (n) => n + 1 },
  'promise chain': {
    change: { name: 'priceAll' },
    size: 5000,
    make: orders,
    run: steps,
    asynchronous: true,
  },
  'await in a loop': {
    change: importOrder,
    size: 3000,
    make: orders,
    run: importOrders,
    asynchronous: true,
  },
  'after an await': {
    change: sortByCity,
    size: 20_000,
    make: orders,
    run: afterAnAwait,
    asynchronous: true,
  },
  'anonymous listener': {
    change: { name: '<anonymous>' },
    line: true,
    size: 3000,
    make: orders,
    run: (list) => bus.emit('orders', list),
  },
  'anonymous arrow, a library in its last expression': {
    change: { name: '<anonymous>' },
    line: true,
    size: 3000,
    make: prose,
    run: (text) => bus.emit('prose', text),
  },
  'anonymous function, JSON of JSON': {
    // V8 calls it after the list that it is in.
    change: { name: 'jobs' },
    line: true,
    size: 20_000,
    make: orders,
    run: (list) => jobs[1](list),
  },
  'require of typescript': {
    change: openEditor,
    loads: 'typescript',
    make: () => undefined,
    before: () => forget('typescript'),
  },
  'require of mathjs': {
    change: sumUp,
    loads: 'mathjs',
    make: () => undefined,
    before: () => forget('mathjs'),
  },
  'garbage collection': { change: collectEvents, size: 300_000, make: whole },
};
