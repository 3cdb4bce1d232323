import { serveBuild } from './serve-build.mjs';

await serveBuild('./astro/dist/server/entry.mjs');
