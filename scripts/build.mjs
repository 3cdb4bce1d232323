// Promises: `dist/`, with every entry that `exports` of package.json names, in both module formats
// and with types.
//
//   node scripts/build.mjs              makes it anew
//   node scripts/build.mjs --if-stale   only if it is not what was made of these very sources
//
// Each entry is bundled by itself: what they have in common is in each of them, not in a file that
// they share. The main entry has to be one module, see src/watchdog/own-code.ts.
import { build, buildIfStale } from './package-build.mjs';

await (process.argv.includes('--if-stale') ? buildIfStale() : build());
