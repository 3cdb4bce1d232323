// Guarantees: the report page as one file without the data, in which scripts and styles have the
// hashes that its own policy asks for.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PAGE = path.join(ROOT, 'page');
/** Chrome, Firefox and Safari of 2023. */
const TARGET = ['chrome114', 'firefox115', 'safari16.4'];

/** Writes it, and returns what is in it. */
export async function buildReportPage(/** @type {string} */ file) {
  const { text: script, metafile } = await bundle('main.ts');
  const { text: style } = await bundle('page.css');
  const page = readFileSync(path.join(PAGE, 'page.html'), 'utf8')
    .replace('__SCRIPT_HASH__', () => hashOf(script))
    .replace('__STYLE_HASH__', () => hashOf(style))
    .replace('/*__STYLE__*/', () => style)
    .replace('/*__SCRIPT__*/', () => script);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, page);
  return metafile;
}

async function bundle(entry) {
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    metafile: true,
    entryPoints: [path.join(PAGE, entry)],
    bundle: true,
    write: false,
    platform: 'browser',
    format: 'iife',
    target: TARGET,
    minify: true,
    charset: 'utf8',
    legalComments: 'none',
  });
  return { text: outputFiles[0].text.trim(), metafile };
}

const hashOf = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
