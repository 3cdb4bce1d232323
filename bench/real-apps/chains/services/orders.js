const orders = Array.from({ length: 60000 }, (_, id) => ({
  id,
  lines: [
    { sku: `a${id}`, amount: 1 + (id % 3), price: 9.99 },
    { sku: `b${id}`, amount: 2, price: 4.5 },
  ],
}));

/** As a cursor of a database has them: page by page, all of them here already. */
async function* pages() {
  for (let at = 0; at < orders.length; at += 100) yield orders.slice(at, at + 100);
}
async function* each() {
  for await (const page of pages()) for (const order of page) yield order;
}
export async function exportOrders() {
  let sum = 0;
  for (let round = 0; round < 6; round++)
    for await (const { lines } of each()) for (const line of lines) sum += line.price;
  return sum;
}

async function check(value) {
  if (typeof value !== 'object' || value === null) return value !== undefined;
  for (const key of Object.keys(value)) if (!(await check(value[key]))) return false;
  return true;
}
export async function validateOrders() {
  return check(orders);
}
