import { createClient } from '@libsql/client';
import { desc, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/libsql';
import { integer, real, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const orders = sqliteTable('orders', {
  id: integer('id').primaryKey(),
  customer: text('customer').notNull(),
  total: real('total').notNull(),
  placedAt: integer('placed_at', { mode: 'timestamp' }).notNull(),
  details: text('details', { mode: 'json' }).notNull(),
});

const client = createClient({ url: process.env.DATABASE });
export const db = drizzle(client);

export async function migrate() {
  await client.execute(
    'create table orders (id integer primary key, customer text, total real, placed_at integer, details text)',
  );
  await client.execute(`
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 12000)
    insert into orders select i, 'Customer ' || (i * 7919 % 3000), i % 977 / 7.0, 1700000000 + i * 60,
      '{"lines":[{"sku":"SKU-' || i || '","quantity":2},{"sku":"S","quantity":1}]}' from n`);
}

export const listOrders = (limit) => db.select().from(orders).orderBy(desc(orders.id)).limit(limit);
export const countOrders = () => db.select({ count: sql`count(*)` }).from(orders);
