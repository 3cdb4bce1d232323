import { runBuild } from './build.mjs';

runBuild('sveltekit', 'vite/bin/vite.js');
