// Verdaccio: a user publishes packages, and others read them.
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeManifest } from './install.mjs';

const PACKAGES = 12;
const TARBALL_BYTES = 3_000_000;

/** As npm sends it: the tarball is in the JSON. */
function published(/** @type {string} */ name, /** @type {string} */ version) {
  const tarball = Buffer.alloc(TARBALL_BYTES, version);
  const shasum = createHash('sha1').update(tarball).digest('hex');
  const file = `${name}-${version}.tgz`;
  const dist = { tarball: `http://127.0.0.1/${name}/-/${file}`, shasum };
  return {
    name,
    'dist-tags': { latest: version },
    versions: { [version]: { name, version, readme: 'text '.repeat(1000), dist } },
    _attachments: {
      [file]: {
        content_type: 'application/octet-stream',
        data: tarball.toString('base64'),
        length: TARBALL_BYTES,
      },
    },
  };
}

/** @type {import('./install.mjs').Product} */
export default {
  title: 'Verdaccio 6.8',
  install(folder) {
    writeManifest(folder, {
      dependencies: { verdaccio: '6.8.0' },
      overrides: { 'node-fetch': '2.7.0' },
    });
    return {};
  },
  env: ({ data }) => ({ HOME: data, XDG_CONFIG_HOME: data, XDG_DATA_HOME: data }),
  prepare({ data, port }) {
    mkdirSync(join(data, 'verdaccio'));
    writeFileSync(
      join(data, 'verdaccio/config.yaml'),
      [
        `listen: 127.0.0.1:${port}`,
        'storage: ./storage',
        'max_body_size: 50mb',
        'auth: { htpasswd: { file: ./htpasswd } }',
        "packages: { '**': { access: $all, publish: $authenticated } }",
        'log: { type: stdout, format: json, level: error }',
      ].join('\n'),
    );
  },
  ready: '/-/ping',
  light: '/-/ping',
  async visit(client) {
    const user = { name: 'ann', password: 'Rlx7-quonfy-42zU', email: 'ann@example.com' };
    const { token } = await client.post('/-/user/org.couchdb.user:ann', user, 'PUT');
    client.headers = { authorization: `Bearer ${token}` };
    for (let i = 0; i < PACKAGES; i++)
      await client.post(`/package-${i % 4}`, published(`package-${i % 4}`, `1.0.${i}`), 'PUT');
    for (const path of [
      '/package-1',
      '/package-1/-/package-1-1.0.1.tgz',
      '/-/v1/search?text=package',
    ])
      await client.together(6, path);
  },
};
