// Guarantees: the report page as one file without the data, in which scripts and styles have the
// hashes that its own policy asks for.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BROWSER = path.join(ROOT, 'src', 'html-report', 'browser');
/** Chrome, Firefox and Safari of 2023. */
const TARGET = ['chrome114', 'firefox115', 'safari16.4'];

/** @param {string} file */
export async function buildReportPage(file) {
  const script = await bundle('main.ts');
  const style = await bundle('page.css');
  const page = readFileSync(path.join(BROWSER, 'page.html'), 'utf8')
    .replace('__SCRIPT_HASH__', () => hashOf(script))
    .replace('__STYLE_HASH__', () => hashOf(style))
    .replace('/*__STYLE__*/', () => style)
    .replace('/*__SCRIPT__*/', () => script);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, page);
}

async function bundle(entry) {
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: [path.join(BROWSER, entry)],
    bundle: true,
    write: false,
    platform: 'browser',
    format: 'iife',
    target: TARGET,
    minify: true,
    charset: 'utf8',
    legalComments: 'none',
  });
  return outputFiles[0].text.trim();
}

const hashOf = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
