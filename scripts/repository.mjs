// `node scripts/repository.mjs https://github.com/owner/name`: sets `repository.url` in
// package.json, the one place that says where the repository is, and makes from it all that
// follows: homepage, bugs, links to runbooks, schema_url, the registry entry.
// Without an address: makes these anew, as after a new version. `--check`: fails if one differs,
// or while no address is set.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import repository from '../tools/repository.cjs';

const ROOT = join(import.meta.dirname, '..');
const read = (file) => readFileSync(join(ROOT, file), 'utf8');
const [argument] = process.argv.slice(2);
const isCheck = argument === '--check';
const before = JSON.parse(read('package.json'));

function made() {
  const address = argument === undefined || isCheck ? repository.repositoryOf(before) : argument;
  const manifest = repository.withRepository(before, address);
  return {
    'package.json': `${JSON.stringify(manifest, null, 2)}\n`,
    ...repository.filesOf(manifest, read),
  };
}

function check(files) {
  const problems = Object.keys(files)
    .filter((file) => read(file) !== files[file])
    .map((file) => `${file} names another repository or version: node scripts/repository.mjs`);
  // npm sets this for `npm publish --dry-run`, which shows what would be published.
  const isDryRun = process.env.npm_config_dry_run === 'true';
  if (repository.isPlaceholder(repository.repositoryOf(before)) && !isDryRun)
    problems.push('no repository yet: node scripts/repository.mjs https://github.com/owner/name');
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}

try {
  const files = made();
  if (isCheck) check(files);
  else for (const [file, text] of Object.entries(files)) writeFileSync(join(ROOT, file), text);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
