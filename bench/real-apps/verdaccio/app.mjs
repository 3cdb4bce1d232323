// Verdaccio, as from a global installation, serves a package of very many versions from its disk.
import { mkdirSync, writeFileSync } from 'node:fs';

const VERSIONS = 4000;
/** What is run is the application: its packages are the ones that a developer of it changes. */
const VERDACCIO = [
  'verdaccio',
  '@verdaccio/core',
  '@verdaccio/config',
  '@verdaccio/local-storage-legacy',
  '@verdaccio/local-storage',
  '@verdaccio/middleware',
  '@verdaccio/search-indexer',
  '@verdaccio/tarball',
  '@verdaccio/utils',
  '@verdaccio/url',
  '@verdaccio/auth',
  '@verdaccio/signature',
];

/** @type {import('../support/launch.mjs').App} */
export default {
  title: 'Verdaccio',
  needsNode: 22,
  args: ({ port, data }) => [
    `${import.meta.dirname}/../../../.real-apps/verdaccio/node_modules/verdaccio/bin/verdaccio`,
    '--config',
    `${data}/config.yaml`,
    '--listen',
    `127.0.0.1:${port}`,
  ],
  prepare: ({ data }) => {
    writeFileSync(
      `${data}/config.yaml`,
      `storage: ${data}/storage
auth: { htpasswd: { file: ${data}/htpasswd } }
packages: { '**': { access: $all, publish: $all } }
log: { type: stdout, level: fatal }
`,
    );
    mkdirSync(`${data}/storage/large`, { recursive: true });
    writeFileSync(`${data}/storage/large/package.json`, JSON.stringify(packument(VERSIONS)));
  },
  ready: '/-/ping',
  cases: [
    {
      name: 'a package of many versions',
      ask: (client) => client.get('/large'),
      varies: true,
      right: { packages: [...VERDACCIO, 'express'] },
    },
    {
      name: 'abbreviated',
      ask: (client) =>
        client.get('/large', { headers: { accept: 'application/vnd.npm.install-v1+json' } }),
      varies: true,
      right: { packages: [...VERDACCIO, 'express'] },
    },
    {
      name: 'one version',
      ask: (client) => client.get('/large/1.0.7'),
      varies: true,
      right: { packages: VERDACCIO },
    },
    {
      name: 'data of the page beside it',
      ask: (client) => client.get('/-/verdaccio/data/sidebar/large'),
      varies: true,
      right: { packages: VERDACCIO },
    },
    {
      name: 'dist-tags',
      ask: (client) => client.get('/-/package/large/dist-tags'),
      varies: true,
      right: { packages: VERDACCIO },
    },
  ],
};

/** What a registry has of a package. */
function packument(/** @type {number} */ count) {
  const versions = {};
  const time = {};
  const distfiles = {};
  const attachments = {};
  for (let i = 0; i < count; i++) {
    const version = `1.0.${i}`;
    versions[version] = {
      name: 'large',
      version,
      description: 'a package with very many versions',
      keywords: ['one', 'two', 'three'],
      dependencies: Object.fromEntries(
        Array.from({ length: 20 }, (_, n) => [`dependency-${n}`, `^${n}.${i % 10}.0`]),
      ),
      maintainers: [{ name: 'somebody', email: 'somebody@example.com' }],
      readmeFilename: 'README.md',
      dist: { shasum: 'a'.repeat(40), tarball: `http://localhost/large/-/large-${version}.tgz` },
    };
    time[version] = new Date(1.6e12 + i * 3.6e6).toISOString();
    attachments[`large-${version}.tgz`] = { shasum: 'a'.repeat(40), version };
  }
  return {
    name: 'large',
    versions,
    time: { ...time, created: '2020-01-01T00:00:00.000Z', modified: '2026-01-01T00:00:00.000Z' },
    users: {},
    'dist-tags': { latest: `1.0.${count - 1}` },
    _uplinks: {},
    _distfiles: distfiles,
    _attachments: attachments,
    _rev: '1-0',
    _id: 'large',
    readme: '# large',
  };
}
