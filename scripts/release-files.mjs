// Guarantees: `release/` has what a release consists of: the tarball, what is bundled in it as a
// CycloneDX SBOM, the version's part of the changelog, and the checksums of these.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pack } from '../tools/pack.cjs';
import { ROOT } from '../tools/paths.cjs';
import { sectionsOf } from './changelog.mjs';
import { buildIfStale, METAFILE } from './package-build.mjs';

const FOLDER = join(ROOT, 'release');

await buildIfStale();
rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER);
const tarball = pack().path;
copyFileSync(tarball, join(FOLDER, basename(tarball)));
const bom = join(ROOT, 'node_modules/@cyclonedx/cyclonedx-esbuild/bin/cyclonedx-esbuild-cli.js');
const options = ['--mc-type=library', '--output-reproducible', '-o', join(FOLDER, 'sbom.cdx.json')];
execFileSync(process.execPath, [bom, ...options, METAFILE], { cwd: ROOT });
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const section = sectionsOf(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8')).find(({ title }) =>
  title.startsWith(`[${version}]`),
);
writeFileSync(join(FOLDER, 'notes.md'), section?.text ?? '');
const sums = readdirSync(FOLDER).map((file) => {
  const hash = createHash('sha256')
    .update(readFileSync(join(FOLDER, file)))
    .digest('hex');
  return `${hash}  ${file}\n`;
});
writeFileSync(join(FOLDER, 'SHA256SUMS'), sums.join(''));
process.stdout.write(sums.join(''));
