exports.products = Array.from({ length: 12000 }, (_, i) => ({
  id: String(i),
  name: `Product number ${i}`,
  price: (i % 977) / 7,
  tags: [`t${i % 13}`, `t${i % 17}`],
  createdAt: new Date(1.7e12 + i * 6e5),
}));
exports.reviews = Array.from({ length: 9000 }, (_, i) => ({
  productId: String(i % 4000),
  text: `Review ${i}`,
  stars: 1 + (i % 5),
}));
exports.customers = Array.from({ length: 5000 }, (_, i) => ({
  name: `Customer ${i}`,
  email: `customer.${i}@example.com`,
  phone: `+49 30 ${1e6 + i}`,
  notes: `Called on ${i % 28} May, asked for an offer. `.repeat(60),
}));
