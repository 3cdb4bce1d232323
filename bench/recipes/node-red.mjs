// Node-RED: the project of `real-apps`, with its settings and flows where Node-RED looks for them.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import app from '../real-apps/node-red/app.mjs';
import { askCases, copyProject } from './cases.mjs';

/** @type {import('./install.mjs').Product} */
export default {
  title: 'Node-RED 4.1',
  install(folder) {
    copyProject('node-red', folder, {});
    return {};
  },
  env: ({ data }) => ({ HOME: data }),
  prepare({ data, folder }) {
    const home = join(data, '.node-red');
    mkdirSync(home);
    writeFileSync(
      join(home, 'settings.js'),
      `const settings = require(${JSON.stringify(join(folder, 'settings.js'))});
       module.exports = { ...settings, flowFile: 'flows.json' };`,
    );
    return app.prepare?.({ data: home, folder });
  },
  ready: '/health',
  light: '/health',
  visit: (client, folder) => askCases(client.url, app, folder),
};
