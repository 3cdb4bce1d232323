const NAMES = ['Ada', 'Grace', 'Barbara', 'Frances', 'Radia', 'Karen', 'Jean', 'Adele'];

/** What the database has. */
const all = Array.from({ length: 25000 }, (_, i) => ({
  id: i + 1,
  customer: `${NAMES[i % NAMES.length]} ${NAMES[(i * 7) % NAMES.length]}son`,
  email: `${NAMES[i % NAMES.length]}.${i}@Example.com`,
  total: ((i * 7919) % 100000) / 100,
  placedAt: new Date(1.7e12 + i * 6e4).toISOString(),
  lines: Array.from({ length: 4 }, (__, n) => ({
    sku: `SKU-${(i * 31 + n) % 5000}`,
    text: `Article ${n} of the order, in its box`,
    quantity: 1 + ((i + n) % 9),
    price: ((i * 13 + n) % 9999) / 100,
  })),
}));

exports.list = (count) => all.slice(0, count);
