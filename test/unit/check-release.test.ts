/** The gate before a release: what it lets through, and what it says of the others. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const SCRIPT = path.join(__dirname, '../../scripts/check-release.mjs');
const CHANGELOG =
  '# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-11-21\n\n### Fixed\n\n- It.\n';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'check-release-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const HOME = 'https://github.com/somebody/something';
const MANIFEST = { version: '1.2.3', repository: { type: 'git', url: `git+${HOME}.git` } };

function check(
  tag: string,
  { locked = '1.2.3', changelog = CHANGELOG, builtIn = 'somebody/something' } = {},
) {
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify(MANIFEST));
  writeFileSync(path.join(folder, 'package-lock.json'), JSON.stringify({ version: locked }));
  writeFileSync(path.join(folder, 'CHANGELOG.md'), changelog);
  const { status, stderr } = spawnSync(process.execPath, [SCRIPT, tag], {
    cwd: folder,
    encoding: 'utf8',
    env: {
      ...process.env,
      GITHUB_SERVER_URL: 'https://github.com',
      GITHUB_REPOSITORY: builtIn,
    },
  });
  return { status, problems: stderr.trim().split('\n').filter(Boolean) };
}

test('all agree', () => {
  expect(check('v1.2.3')).toEqual({ status: 0, problems: [] });
});

test('outside GitHub any repository will do', () => {
  expect(check('v1.2.3', { builtIn: '' })).toEqual({ status: 0, problems: [] });
});

test.each([
  ['another tag', 'v1.2.4', {}, 'the tag is v1.2.4, package.json says 1.2.3'],
  ['no tag', '', {}, 'the tag is missing, package.json says 1.2.3'],
  [
    'a stale lock',
    'v1.2.3',
    { locked: '1.2.2' },
    'package-lock.json says 1.2.2, package.json 1.2.3',
  ],
  [
    'no section',
    'v1.2.3',
    { changelog: CHANGELOG.replace('1.2.3', '1.2.2') },
    'CHANGELOG.md has no section [1.2.3]',
  ],
  [
    'an empty section',
    'v1.2.3',
    { changelog: CHANGELOG.replace('- It.', '[1.2.3]: somewhere') },
    'CHANGELOG.md has nothing to say of 1.2.3',
  ],
  [
    'a section without a date',
    'v1.2.3',
    { changelog: CHANGELOG.replace(' - 2026-11-21', '') },
    'CHANGELOG.md: "[1.2.3]" has no date, as in "[1.2.3] - 2026-11-21"',
  ],
  [
    'changes that belong to no version',
    'v1.2.3',
    { changelog: CHANGELOG.replace('## [1.2.3]', '- That.\n\n## [1.2.3]') },
    'CHANGELOG.md still has unreleased changes',
  ],
  [
    'another repository',
    'v1.2.3',
    { builtIn: 'else/where' },
    `package.json names the repository ${HOME}, this is https://github.com/else/where: ` +
      'node scripts/repository.mjs https://github.com/else/where',
  ],
])('%s', (_, tag, files, problem) => {
  expect(check(tag, files)).toEqual({ status: 1, problems: [problem] });
});
