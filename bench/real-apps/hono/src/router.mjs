import { initTRPC } from '@trpc/server';
import { z } from 'zod';
import { listOrders } from './db.mjs';
import { findCustomers } from './search.mjs';

const t = initTRPC.create();
const publicProcedure = t.procedure;
const order = z.object({
  customer: z
    .string()
    .min(1)
    .regex(/^[\w ]+$/),
  email: z.email(),
  total: z.number().nonnegative(),
  lines: z.array(z.object({ sku: z.string(), quantity: z.int().positive() })),
});

export const router = t.router({
  sales: publicProcedure.input(z.object({ days: z.number() })).query(async ({ input }) => {
    const rows = await listOrders(1500);
    const formatted = rows.map(({ placedAt, total }) => ({
      day: placedAt.toLocaleDateString('de-DE', { weekday: 'long', day: 'numeric', month: 'long' }),
      total,
    }));
    const days = Object.groupBy(formatted, ({ day }) => day);
    return Object.keys(days).slice(0, input.days);
  }),
  orders: publicProcedure
    .input(z.object({ limit: z.number() }))
    .query(async ({ input }) => (await listOrders(input.limit)).length),
  importOrders: publicProcedure.input(z.array(order)).mutation(({ input }) => input.length),
  search: publicProcedure
    .input(z.object({ text: z.string() }))
    .query(async ({ input }) => findCustomers(input.text)),
});
