import { existsSync } from 'node:fs';

interface Order {
  id: number;
  rows: number[];
}

type Orders = readonly Order[];

/** Until there is this file: nothing else gets through to a thread that is blocked. */
export function hashOrders(orders: Orders, endOfBlock: string): number {
  let sum: number = orders.length;
  do {
    for (let i = 0; i < 1e7; i++) sum = (sum * 31 + i) % 1_000_003; // BLOCKS
  } while (!existsSync(endOfBlock)); // BLOCKS
  return sum;
}
