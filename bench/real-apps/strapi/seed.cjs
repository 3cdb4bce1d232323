// Makes the database that each launch starts with a copy of.
const { mkdirSync, rmSync } = require('node:fs');
const { createStrapi } = require('@strapi/strapi');

process.env.SEED = '1';
process.env.DATABASE = `${__dirname}/seed.db`;
process.env.PORT ??= '0';
rmSync(process.env.DATABASE, { force: true });
mkdirSync(`${__dirname}/public/uploads`, { recursive: true });
createStrapi({ appDir: __dirname, distDir: __dirname })
  .load()
  .then((strapi) => strapi.destroy())
  .then(() => process.exit());
