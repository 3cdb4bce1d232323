export const orders = Array.from({ length: 20000 }, (_, i) => ({
  id: i,
  customer: `Customer ${(i * 7919) % 900}`,
  total: ((i * 31) % 9973) / 7,
  day: i % 365,
}));
