/**
 * Makes the folder of the Lambda layer that goes with the OpenTelemetry layer for Node.js.
 *
 *   npm run build
 *   node deploy/lambda/build-layer.mjs build/layer
 *   (cd build/layer && zip --recurse-paths ../event-loop-layer.zip .)
 */
import { cpSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const ROOT = resolve(import.meta.dirname, '../..');
const PACKAGE = 'opentelemetry-instrumentation-event-loop';
/** What Lambda runs needs no types, and nothing that is for tests. */
const FILES = [
  'package.json',
  'LICENSE',
  ...['index.mjs', 'index.cjs', 'core.cjs'].map((file) => `dist/${file}`),
];
const API_FILES = ['package.json', 'LICENSE', 'build/src'];

const [folder] = parseArgs({ allowPositionals: true }).positionals;
if (folder === undefined) throw new Error('usage: node deploy/lambda/build-layer.mjs FOLDER');

const copy = (from, files, to) => {
  mkdirSync(to, { recursive: true });
  for (const file of files) cpSync(join(from, file), join(to, file), { recursive: true });
};

cpSync(join(import.meta.dirname, 'layer'), folder, { recursive: true });
const modules = join(folder, 'event-loop', 'node_modules');
copy(ROOT, FILES, join(modules, PACKAGE));
// A copy of the api for each of the two layers: both have one registry, on `globalThis`.
const api = join('node_modules', '@opentelemetry', 'api');
copy(join(ROOT, api), API_FILES, join(modules, '@opentelemetry', 'api'));
console.log(folder);
