/**
 * Builds `apps/source-maps` into a folder, as an application is: bundled, minified, its map beside
 * it.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type BuildOptions, buildSync } from 'esbuild';

const APP = path.join(__dirname, '../apps/source-maps');

/** The function that blocks, and the line in which it does. */
export const BLOCKING = (() => {
  const file = path.join(APP, 'src/report.ts');
  const lines = readFileSync(file, 'utf8').split('\n');
  return {
    functionName: 'renderReport',
    file,
    line: lines.findIndex((text) => text.includes('// BLOCKS')) + 1,
  };
})();

/** @returns the bundle: the argument of `apps/source-maps/service.cjs` */
export function buildSourceMapsApp(folder: string, options: BuildOptions = {}): string {
  const outfile = path.join(folder, 'dist/main.cjs');
  buildSync({
    entryPoints: [path.join(APP, 'src/handler.ts')],
    bundle: true,
    minify: true,
    sourcemap: true,
    platform: 'node',
    format: 'cjs',
    logLevel: 'error',
    outfile,
    ...options,
  });
  return outfile;
}
