// Promises: `dist/`, with every entry that `exports` of package.json names, in both module formats and with types.
//
// Each entry is bundled by itself: what they have in common is in each of them, not in a file that they share. The main entry has to
// be one module, see src/watchdog/own-code.ts.
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TARGET = 'node20.18'; // the oldest that `engines` allows

const { exports } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
const entries = Object.values(exports).flatMap((entry) => entry.import?.default ?? []);

rmSync(`${ROOT}dist`, { recursive: true, force: true });
for (const entry of entries) {
  const files = entry.replace(/mjs$/, '*');
  execFileSync('pkgroll', [`--target=${TARGET}`, `--packagejson=${files}`], { cwd: ROOT, stdio: 'inherit' });
}
