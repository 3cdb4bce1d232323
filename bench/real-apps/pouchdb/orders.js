const PouchDB = require('pouchdb-core')
  .plugin(require('pouchdb-adapter-memory'))
  .plugin(require('pouchdb-mapreduce'))
  .plugin(require('pouchdb-replication'))
  .plugin(require('pouchdb-find'));

const db = new PouchDB('orders', { adapter: 'memory' });
exports.db = db;

const make = (i, prefix) => ({
  _id: `${prefix}-${i}`,
  customer: `Customer ${i % 300}`,
  total: (i % 977) / 7,
  text: `Order ${i} of customer ${i % 300}, to be sent on day ${i % 7} with care and a card`,
  lines: Array.from({ length: 3 }, (_, n) => ({ sku: `SKU-${i}-${n}`, quantity: n })),
});

exports.seed = (count) => db.bulkDocs(Array.from({ length: count }, (_, i) => make(i, 'order')));

let imports = 0;
exports.importOrders = async function importOrders(count) {
  const prefix = `import${imports++}`;
  const results = await db.bulkDocs(Array.from({ length: count }, (_, i) => make(i, prefix)));
  return { written: results.length };
};

/* global emit */
exports.byWords = async function byWords() {
  const { rows } = await db.query(
    function byWords(doc, emit) {
      for (const word of doc.text?.split(' ') ?? []) if (word.length > 6) emit(word, 1);
    },
    { reduce: '_count', group: true },
  );
  return rows.length;
};

exports.summarize = async function summarize() {
  const { rows } = await db.allDocs({
    include_docs: true,
    startkey: 'order',
    endkey: 'order\uffff',
  });
  return summaryOf(rows);
};

function summaryOf(rows) {
  const customers = new Map();
  for (const { doc } of rows) {
    const day = new Date(1.7e12 + doc.total * 1e8).toLocaleDateString('de-DE', {
      month: 'long',
      timeZone: 'UTC',
    });
    const key = `${doc.customer} ${day}`;
    customers.set(key, (customers.get(key) ?? 0) + doc.total);
  }
  return [...customers].sort((a, b) => b[1] - a[1]).slice(0, 5);
}

exports.find = async function find() {
  const { docs } = await db.find({
    selector: { total: { $gt: 100 }, text: { $regex: 'day 3' } },
    limit: 50,
  });
  return docs.length;
};

exports.replicate = async function replicate() {
  const target = new PouchDB(`copy${imports++}`, { adapter: 'memory' });
  const { docs_written: written } = await db.replicate.to(target, {
    filter: isWanted,
    batch_size: 300,
  });
  await target.destroy();
  return { written };
};

function isWanted(doc) {
  return doc.customer === 'Customer 7' && JSON.stringify(doc).length > 20;
}

exports.touch = async function touch() {
  const doc = await db.get('order-1');
  return db.put({ ...doc, total: doc.total + 1 });
};

exports.all = async () => {
  const { rows } = await db.allDocs({ include_docs: true });
  return rows.map(({ doc }) => doc);
};
