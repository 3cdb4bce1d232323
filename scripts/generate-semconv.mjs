// `npm run check -- semconv`: src/semconv.ts and the tables of docs/semantic-conventions.md, from
// semconv/*.yaml.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import semconv from '../tools/semconv.cjs';

const ROOT = join(import.meta.dirname, '..');
const SOURCE = join(ROOT, 'src/semconv.ts');
const PAGE = join(ROOT, 'docs/semantic-conventions.md');

const registry = semconv.readRegistry();
writeFileSync(SOURCE, semconv.semconvSource(registry));
const page = readFileSync(PAGE, 'utf8');
writeFileSync(PAGE, semconv.withSections(page, semconv.docsSections(registry)));
