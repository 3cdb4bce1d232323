import { build } from 'esbuild';

const options = { entryPoints: ['service.cjs'], bundle: true, platform: 'node', target: 'node20' };
await build({ ...options, outfile: 'out/esbuild.cjs' });
await build({ ...options, outfile: 'out/esbuild-minified.cjs', minify: true, keepNames: true });
