import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export async function summarize() {
  let sum = 0;
  const source = Readable.from(Array.from({ length: 60000 }, (_, id) => ({ id })));
  const price = new Transform({
    objectMode: true,
    transform: (order, _encoding, done) => done(null, { ...order, price: order.id * 2 }),
  });
  await pipeline(source, price, async function total(orders) {
    for await (const { price } of orders) sum += price;
  });
  return sum;
}
