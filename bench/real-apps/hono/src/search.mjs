import Fuse from 'fuse.js';

const customers = Array.from({ length: 9000 }, (_, i) => ({
  name: `Customer number ${i}`,
  city: ['Berlin', 'Paris', 'Lisbon', 'Oslo'][i % 4],
}));

export function findCustomers(text) {
  const fuse = new Fuse(customers, { keys: ['name', 'city'], threshold: 0.5 });
  return fuse.search(text, { limit: 5 }).map(({ item }) => item.name);
}
