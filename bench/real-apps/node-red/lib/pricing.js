/** Prices of a basket: compares every line with every other one. */
exports.quote = function quote(lines) {
  let total = 0;
  for (const line of lines) {
    const same = lines.filter((other) => other.sku === line.sku && other.price <= line.price);
    total += line.price * (1 - Math.min(same.length, 20) / 100);
  }
  return Math.round(total);
};

exports.catalogue = Array.from({ length: 12000 }, (_, i) => ({
  name: `Item ${i}`,
  price: (i * 13) % 500,
  tags: ['new', `group <${i % 12}>`],
}));
