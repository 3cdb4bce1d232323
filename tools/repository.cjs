/**
 * Where the package's repository is, said once: `repository.url` in `package.json`. Everything else
 * that names it is made from that, and so is what has the version in a URL:
 * `scripts/repository.mjs` writes it, a unit test compares.
 */
const PLACEHOLDER = 'OWNER_NOT_SET'; // no owner on GitHub can be named so
const RUNBOOKS = 'deploy/prometheus/README.md';
const ALERTS = [
  'deploy/prometheus/rules.yaml',
  'deploy/prometheus/rules.test.yaml',
  'deploy/grafana/provisioning/alerting/event-loop.yaml',
];

/** @typedef {Record<string, any> & { version: string }} Manifest of `package.json` */

/** @returns {string | undefined} as a browser opens it: `https://github.com/owner/name` */
function repositoryOf(/** @type {Record<string, any>} */ manifest) {
  return manifest['repository']?.url?.replace(/^git\+/, '').replace(/\.git$/, '');
}

/** Nobody has said yet where the repository is. */
function isPlaceholder(/** @type {string} */ url) {
  return url.includes(PLACEHOLDER);
}

/**
 * @param {string} url `https://host/owner/name`
 * @throws {TypeError} if it is another one
 */
function requireUrl(url) {
  if (!/^https:\/\/[\w.-]+\/[\w.-]+\/[\w.-]+$/.test(url) || url.endsWith('.git'))
    throw new TypeError(`${url} is not like https://github.com/owner/name`);
}

/**
 * @param {Manifest} manifest
 * @param {string} url
 * @returns {Manifest} with the repository at `url`
 */
function withRepository(manifest, url) {
  requireUrl(url);
  return {
    ...manifest,
    homepage: `${url}#readme`,
    bugs: { url: `${url}/issues` },
    repository: { type: 'git', url: `git+${url}.git` },
  };
}

/**
 * Lines of files that name the repository or the version: what one begins with, and what follows.
 * @param {Manifest} manifest
 * @returns {Record<string, Record<string, string>>}
 */
function linesOf(manifest) {
  const url = /** @type {string} */ (repositoryOf(manifest));
  return {
    'semconv/manifest.yaml': { 'schema_url: ': `${url}/schemas/${manifest.version}` },
    '.github/CODEOWNERS': { '# The code is at ': url, '* @': url.split('/')[3] ?? '' },
    'docs/registry-entry.yml': {
      '  repo: ': url,
      '  docs: ': `${url}#readme`,
      '    url: ': url.slice(0, url.lastIndexOf('/')),
      '  name: ': manifest['name'],
      '  version: ': manifest.version,
    },
  };
}

/**
 * @param {string} text
 * @param {Record<string, string>} lines
 * @returns {string} with the first line that begins so made anew
 */
function withLines(text, lines) {
  let made = text;
  for (const [start, rest] of Object.entries(lines)) {
    const line = made.split('\n').find((one) => one.startsWith(start));
    if (line === undefined) throw new Error(`no line begins with "${start}"`);
    made = made.replace(line, start + rest);
  }
  return made;
}

/**
 * Every other file that names the repository or the version, as it has to be.
 * @param {Manifest} manifest
 * @param {(path: string) => string} read
 * @returns {Record<string, string>} texts by path
 */
function filesOf(manifest, read) {
  const url = repositoryOf(manifest);
  const runbooks = `${url}/blob/main/${RUNBOOKS}`;
  return Object.fromEntries([
    ...Object.entries(linesOf(manifest)).map(([path, lines]) => [
      path,
      withLines(read(path), lines),
    ]),
    ...ALERTS.map((path) => [
      path,
      read(path).replaceAll(/(runbook_url: )\S*deploy\/prometheus\/README\.md/g, `$1${runbooks}`),
    ]),
  ]);
}

module.exports = { repositoryOf, isPlaceholder, withRepository, filesOf };
