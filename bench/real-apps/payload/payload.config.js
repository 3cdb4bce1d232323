import { sqliteAdapter } from '@payloadcms/db-sqlite';
import { buildConfig } from 'payload';
import { invoices } from './collections/invoices.js';
import { pages } from './collections/pages.js';
import { tags } from './collections/tags.js';
import { digest } from './jobs.js';
import { reports } from './reports.js';

export default buildConfig({
  secret: 'a secret',
  telemetry: false,
  collections: [pages, tags, invoices],
  endpoints: reports,
  jobs: { tasks: [digest], access: { run: () => true } },
  db: sqliteAdapter({ client: { url: `file:${process.env.DATABASE}` }, push: true }),
  typescript: { autoGenerate: false },
  graphQL: { disable: true },
  logger: { options: { level: 'error' } },
});
