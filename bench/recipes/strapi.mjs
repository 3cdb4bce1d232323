// Strapi: the project of `real-apps`, with its own start.
import app from '../real-apps/strapi/app.mjs';
import { askCases, copyProject } from './cases.mjs';

/** @type {import('./install.mjs').Product} */
export default {
  title: 'Strapi 5.54',
  install(folder) {
    copyProject('strapi', folder, { scripts: { start: 'strapi start' } });
    return { build: [['seed.cjs']] };
  },
  env: app.env,
  prepare: app.prepare,
  ready: '/api/tags?pagination[limit]=1',
  light: '/api/tags?pagination[limit]=1',
  visit: (client, folder) => askCases(client.url, app, folder),
};
