import { runBuild } from './build.mjs';

runBuild('astro', 'astro/bin/astro.mjs');
