// Guarantees: a version is ready to be published under a tag: the tag, package.json, the lock and
// CHANGELOG.md agree.
// `node scripts/check-release.mjs v1.2.3` in the package's folder; says all that is wrong, and then
// fails.
import { readFileSync } from 'node:fs';
import repository from '../tools/repository.cjs';
import { sectionsOf } from './changelog.mjs';

const tag = process.argv[2] ?? '';
const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const { version } = manifest;
const address = repository.repositoryOf(manifest) ?? '';
// GitHub says where it builds: provenance is valid only where package.json names the same
// repository.
const { GITHUB_SERVER_URL, GITHUB_REPOSITORY } = process.env;
const builtIn = GITHUB_REPOSITORY ? `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}` : undefined;
const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const sections = sectionsOf(readFileSync('CHANGELOG.md', 'utf8'));
const section = sections.find(({ title }) => title.startsWith(`[${version}]`));

const problems = [
  tag !== `v${version}` && `the tag is ${tag || 'missing'}, package.json says ${version}`,
  lock.version !== version && `package-lock.json says ${lock.version}, package.json ${version}`,
  section === undefined && `CHANGELOG.md has no section [${version}]`,
  section?.isEmpty && `CHANGELOG.md has nothing to say of ${version}`,
  section !== undefined &&
    !/\] - \d{4}-\d{2}-\d{2}$/.test(section.title) &&
    `CHANGELOG.md: "${section.title}" has no date, as in "[${version}] - 2026-11-21"`,
  sections.some(({ title, isEmpty }) => title === '[Unreleased]' && !isEmpty) &&
    'CHANGELOG.md still has unreleased changes',
  builtIn !== undefined &&
    address !== builtIn &&
    `package.json names the repository ${address || 'nowhere'}, this is ${builtIn}: node scripts/repository.mjs ${builtIn}`,
].filter((problem) => typeof problem === 'string');

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
else console.log(`${tag} is ready to be published`);
if (problems.length === 0 && builtIn === undefined && repository.isPlaceholder(address))
  console.log('but for the repository: node scripts/repository.mjs https://github.com/owner/name');
