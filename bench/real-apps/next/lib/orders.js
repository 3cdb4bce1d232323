import { setTimeout as wait } from 'node:timers/promises';
import cloneDeep from 'lodash/cloneDeep.js';

export const rows = (count) =>
  Array.from({ length: count }, (_, id) => ({ id, tags: ['new', 'paid'], lines: [{ id }] }));

export function priceOf({ id }) {
  let price = id;
  for (let i = 0; i < 30_000; i++) price = (price * 31 + i) % 65_537;
  return price;
}

export function exportOrders(count) {
  const orders = rows(count);
  return JSON.stringify(orders);
}

export async function copyOrders(count) {
  await wait(1);
  return cloneDeep(rows(count));
}
