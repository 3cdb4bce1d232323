// `npm run check -- semconv`: src/semconv.ts and the lists of docs/reference.md, from
// semconv/*.yaml and the doc comments in src/.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import reference from '../tools/reference.cjs';
import semconv from '../tools/semconv.cjs';

const ROOT = join(import.meta.dirname, '..');
const SOURCE = join(ROOT, 'src/semconv.ts');
const PAGE = join(ROOT, 'docs/reference.md');

const registry = semconv.readRegistry();
writeFileSync(SOURCE, semconv.semconvSource(registry));
const page = readFileSync(PAGE, 'utf8');
writeFileSync(PAGE, reference.withSections(page, reference.referenceSections(registry)));
