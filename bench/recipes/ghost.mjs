// Ghost, as its own tool installs it: unpacked, and what it needs is installed inside.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { unpack } from './install.mjs';

const OWNER = { name: 'Ann', email: 'ann@example.com', password: 'Rlx7-quonfy-42zU' };
const API = '/ghost/api/admin';
const PARAGRAPH = '<p>Some <b>text</b> with <a href="https://example.com/a">a link</a>.</p>';

/** @type {import('./install.mjs').Product} */
export default {
  title: 'Ghost 6.65',
  install(folder) {
    unpack('ghost@6.65.0', folder);
    const file = join(folder, 'package.json');
    const manifest = JSON.parse(readFileSync(file, 'utf8'));
    // Its binary comes from npm.
    manifest.optionalDependencies['better-sqlite3'] = 'npm:libsql@0.5.29';
    delete manifest.devDependencies;
    writeFileSync(file, JSON.stringify(manifest));
    return { options: ['--legacy-peer-deps'] };
  },
  env: ({ port, data, folder }) => ({
    server__host: '127.0.0.1',
    server__port: String(port),
    url: `http://127.0.0.1:${port}`,
    database__client: 'better-sqlite3',
    database__connection__filename: `${data}/ghost.db`,
    database__useNullAsDefault: 'true',
    mail__transport: 'Direct',
    paths__contentPath: `${folder}/content`,
    privacy__useUpdateCheck: 'false',
    security__staffDeviceVerification: 'false',
    // So that a light request is answered as often as it is sent.
    logging__level: 'error',
  }),
  ready: '/',
  light: '/robots.txt',
  async visit(client) {
    const { name, email, password } = OWNER;
    const setup = { name, email, password, blogTitle: 'A blog' };
    await client.post(`${API}/authentication/setup/`, { setup: [setup] });
    await client.post(`${API}/session/`, { username: email, password });
    for (let i = 0; i < 12; i++) {
      const html = PARAGRAPH.repeat(300);
      const post = { title: `Post ${i}`, html, status: 'published', tags: [`tag ${i % 4}`] };
      await client.post(`${API}/posts/?source=html`, { posts: [post] });
    }
    const all = `${API}/posts/?limit=all&formats=html,lexical&include=tags,authors`;
    for (const path of ['/', '/post-1/', '/tag/tag-1/', '/rss/', all, `${API}/settings/`])
      await client.together(6, path);
  },
};
