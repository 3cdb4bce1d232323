/** What the database has. */
exports.products = Array.from({ length: 6000 }, (_, i) => ({
  id: i,
  name: `Product ${i}`,
  price: ((i * 7919) % 100000) / 100,
  tags: [`t${i % 31}`, `t${i % 37}`, `t${i % 41}`],
}));
