const { products } = require('./products');

const CHUNK = 600;
const INDEXED = 3000;

class SearchIndex {
  constructor() {
    this.grams = new Map();
  }

  /** In chunks, so that requests come in between. */
  rebuild() {
    this.grams.clear();
    const step = (from) => {
      for (const product of products.slice(from, from + CHUNK)) this.add(product);
      if (from + CHUNK < INDEXED) setImmediate(step, from + CHUNK);
    };
    setImmediate(step, 0);
  }

  add({ id, name, tags }) {
    const text = `${name} ${tags.join(' ')} ${name} of our shop, with ${tags.length} tags`;
    for (let size = 2; size < 7; size++) {
      for (let i = 0; i + size <= text.length; i++) {
        const gram = text.slice(i, i + size).toLowerCase();
        const ids = this.grams.get(gram) ?? new Set();
        this.grams.set(gram, ids.add(id));
      }
    }
  }
}

module.exports = new SearchIndex();
