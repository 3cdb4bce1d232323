exports.orders = Array.from({ length: 60000 }, (_, i) => ({
  id: String(i),
  customer: `Customer ${(i * 7919) % 3000}`,
  total: (i % 977) / 7,
  lines: Array.from({ length: 3 }, (__, n) => ({
    sku: `SKU-${i % 500}-${n}`,
    quantity: n + 1,
    price: n / 3,
  })),
}));
exports.articles = Array.from({ length: 5000 }, (_, i) => ({
  id: String(i),
  title: `Article ${i} about ${['orders', 'returns', 'invoices', 'shipping'][i % 4]}`,
  tags: [`t${i % 13}`, `t${i % 17}`, `t${i % 19}`],
  text: Array.from(
    { length: 30 },
    (__, n) =>
      `## Part ${n}\n\n*Some* text with [a link](https://example.com/${n}), \`code\` and\n\n- one\n- two\n`,
  ).join('\n'),
}));
