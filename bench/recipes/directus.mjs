// Directus with SQLite: a project that depends on it, with its first user.
import { spawnSync } from 'node:child_process';
import { writeManifest } from './install.mjs';

const ADMIN = { email: 'ann@example.com', password: 'Rlx7-quonfy-42zU' };
const ROWS = 1500;
const field = (/** @type {string} */ name) => ({ field: name, type: 'string' });
const row = (/** @type {number} */ i) => ({ title: `Title ${i}`, text: 'word '.repeat(40) });

/** @type {import('./install.mjs').Product} */
export default {
  title: 'Directus 12.4',
  install(folder) {
    writeManifest(folder, {
      dependencies: { directus: '12.4.0' },
      // Comes with its binary.
      overrides: { 'isolated-vm': '7.0.1' },
    });
    return { rebuild: ['sqlite3'] };
  },
  env: ({ data }) => ({
    DB_CLIENT: 'sqlite3',
    DB_FILENAME: `${data}/directus.db`,
    ADMIN_EMAIL: ADMIN.email,
    ADMIN_PASSWORD: ADMIN.password,
    PUBLIC_URL: 'http://127.0.0.1',
    SECRET: 'a secret of thirty-two characters',
    TELEMETRY: 'false',
    LOG_LEVEL: 'error',
  }),
  prepare(given) {
    const env = { ...process.env, ...this.env?.(given) };
    const args = ['node_modules/directus/cli.js', 'bootstrap'];
    const { status, stderr } = spawnSync(given.node, args, { cwd: given.folder, env });
    if (status !== 0) throw new Error(`directus bootstrap: ${stderr}`);
  },
  ready: '/server/ping',
  light: '/server/ping',
  async visit(client) {
    const { data } = await client.post('/auth/login', ADMIN);
    client.headers = { authorization: `Bearer ${data.access_token}` };
    const fields = ['title', 'text'].map(field);
    for (const collection of ['pages', 'notes'])
      await client.post('/collections', { collection, schema: {}, meta: {}, fields });
    for (let i = 0; i < 3; i++)
      await client.post(
        '/items/pages',
        Array.from({ length: ROWS }, (_, n) => row(n)),
      );
    for (const path of [
      '/items/pages?limit=-1',
      '/items/pages?limit=20&search=Title 3',
      '/server/specs/oas',
      '/schema/snapshot',
      '/fields',
      '/revisions?limit=200',
    ])
      await client.together(6, path);
    const query = '{ pages(limit: -1) { id title text } }';
    await Promise.all(Array.from({ length: 6 }, () => client.post('/graphql', { query })));
  },
};
