// Makes the database that each launch starts with a copy of.
import { rmSync } from 'node:fs';

process.env.DATABASE = `${import.meta.dirname}/seed.db`;
process.env.NODE_ENV = 'development';
rmSync(process.env.DATABASE, { force: true });
const { getPayload } = await import('payload');
const payload = await getPayload({ config: (await import('./payload.config.js')).default });
const tags = [];
for (let i = 0; i < 12; i++) {
  tags.push((await payload.create({ collection: 'tags', data: { name: `tag ${i}` } })).id);
}
for (let i = 0; i < 60; i++) {
  await payload.create({
    collection: 'pages',
    data: {
      title: `Page ${i}`,
      tags: tags.slice(i % 6, (i % 6) + 5),
      rows: Array.from({ length: 30 }, (_, n) => ({
        label: `row ${n % 7}`,
        amount: n,
        link: { url: `/${i}/${n}` },
      })),
      content: Array.from({ length: 10 }, (_, n) =>
        n % 2
          ? { blockType: 'quote', text: `text ${n} `.repeat(10) }
          : { blockType: 'banner', heading: `heading ${n}` },
      ),
    },
  });
  await payload.create({
    collection: 'invoices',
    data: { customer: `Customer ${i}`, text: `text of ${i} `.repeat(20) },
  });
}
process.exit();
