import db from '@adonisjs/lucid/services/db';

await db.rawQuery(
  'create table orders (id integer primary key, customer text, note text, total int)',
);
await db.rawQuery('create table lines (id integer primary key, order_id int, sku text, price int)');
for (let from = 0; from < 1500; from += 100) {
  const ids = Array.from({ length: 100 }, (_, i) => from + i + 1);
  await db.table('orders').multiInsert(
    ids.map((id) => ({
      customer: `Customer ${id % 97}`,
      note: `note <${id}> `.repeat(8),
      total: (id * 37) % 1000,
    })),
  );
  await db
    .table('lines')
    .multiInsert(
      ids.flatMap((id) => [1, 2].map((n) => ({ order_id: id, sku: `sku-${id % 90}`, price: n }))),
    );
}
