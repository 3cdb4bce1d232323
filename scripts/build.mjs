// Guarantees: `dist/`, with every entry that `exports` of package.json names, in both module
// formats and with types.
//
//   node scripts/build.mjs              makes it anew
//   node scripts/build.mjs --if-stale   only if it is not what was made of these very sources
//
// The entries `index` and `console` share their code, `core`: see src/core.ts.
import { build, buildIfStale } from './package-build.mjs';

await (process.argv.includes('--if-stale') ? buildIfStale() : build());
