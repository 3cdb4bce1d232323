import Keyv from 'keyv';
import { LRUCache } from 'lru-cache';

const ids = Array.from({ length: 5000 }, (_, id) => id);
const priceOf = (id) => ({ id, net: id * 1.1, tax: id * 0.19 });
const cache = new LRUCache({ max: 10000, fetchMethod: async (id) => priceOf(id) });
const store = new Keyv();
for (const id of ids) cache.set(id, priceOf(id));
for (const id of ids.slice(0, 500)) await store.set(`price:${id}`, priceOf(id));

/** Everything is in the cache: no await goes back to the loop. */
export async function priceCached() {
  let sum = 0;
  for (let round = 0; round < 30; round++) for (const id of ids) sum += (await cache.fetch(id)).net;
  return sum;
}

export async function priceStored() {
  let sum = 0;
  for (let round = 0; round < 60; round++)
    for (const id of ids.slice(0, 500)) sum += (await store.get(`price:${id}`)).net;
  return sum;
}

const totalOf = async ({ net, tax }) => net + tax;
const viewOf = async (id) => ({ id, total: await totalOf(priceOf(id)) });
export async function priceAll() {
  let count = 0;
  for (let round = 0; round < 40; round++) count += (await Promise.all(ids.map(viewOf))).length;
  return count;
}
