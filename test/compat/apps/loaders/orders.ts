import { existsSync } from 'node:fs';

interface Order {
  id: number;
  rows: number[];
}

/** A compiler moves what follows: it leaves this out, and makes a function of it. */
type Orders = readonly Order[];

export enum Unit {
  Piece = 1,
  Box = 12,
}

export function hashOrders(orders: Orders, endOfBlock: string): number {
  let sum: number = orders.length;

  do {
    for (let i = 0; i < 1e7; i++) sum = (sum * 31 + i * Unit.Box) % 1_000_003; // BLOCKS
  } while (!existsSync(endOfBlock)); // BLOCKS
  return sum;
}
