const index = new Map();

exports.watch = (db) => {
  db.changes({ since: 'now', live: true, include_docs: true }).on('change', ({ id, doc }) => {
    if (id.startsWith('order-')) reindex(doc);
  });
};

/** The whole index, since one is small. */
function reindex(doc) {
  for (let round = 0; round < 12000; round++) {
    for (const word of `${doc.text} ${round}`.toLowerCase().split(/[\s,.]+/)) {
      const at = index.get(word) ?? new Set();
      at.add(`${doc._id}${round % 100}`);
      index.set(word, at);
    }
  }
}
