import { serveBuild } from './serve-build.mjs';

await serveBuild('./sveltekit/build/index.js');
