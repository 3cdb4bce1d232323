import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { serveBuild } from './serve-build.mjs';

process.argv[2] = `${import.meta.dirname}/react-router/build/server/index.js`;
const { resolve } = createRequire(import.meta.url);
const manifest = resolve('@react-router/serve/package.json');
await serveBuild(new URL('dist/cli.js', pathToFileURL(manifest)).href);
