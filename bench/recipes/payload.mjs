// Payload: the project of `real-apps`, served by Next.js, with the routes of its REST API.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import app from '../real-apps/payload/app.mjs';
import { askCases, copyProject } from './cases.mjs';

const CONFIG = `import { withPayload } from '@payloadcms/next/withPayload';
export default withPayload({ turbopack: { root: import.meta.dirname } });`;
const METHODS = ['DELETE', 'GET', 'PATCH', 'POST', 'PUT'];
/** From the route to the project. */
const UP = '../'.repeat(3);
const ROUTE = `import * as rest from '@payloadcms/next/routes';
import config from '${UP}payload.config.js';
${METHODS.map((name) => `export const ${name} = rest.REST_${name}(config);`).join('\n')}`;

/** @type {import('./install.mjs').Product} */
export default {
  title: 'Payload 3.90',
  install(folder) {
    const dependencies = {
      '@payloadcms/next': '3.90.2',
      graphql: '16.15.0',
      next: '16.4.6',
      react: '19.3.1',
      'react-dom': '19.3.1',
    };
    copyProject('payload', folder, { dependencies });
    const routes = join(folder, 'app/api/[...slug]');
    mkdirSync(routes, { recursive: true });
    writeFileSync(join(routes, 'route.js'), ROUTE);
    writeFileSync(join(folder, 'next.config.mjs'), CONFIG);
    return { build: [['seed.js'], ['node_modules/next/dist/bin/next', 'build']] };
  },
  env: (given) => ({ ...app.env?.(given), NEXT_TELEMETRY_DISABLED: '1' }),
  prepare: app.prepare,
  ready: '/api/health',
  light: '/api/pages?limit=1&depth=0',
  visit: (client, folder) => askCases(client.url, app, folder),
};
