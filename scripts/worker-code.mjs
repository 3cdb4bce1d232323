// Guarantees: the code of the threads as strings, in one generated file that is never older than
// its sources. A string survives what a file beside the package's own does not: bundlers, and both
// module systems.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Where the strings go, relative to the root. */
export const GENERATED_FILE = 'src/worker-code.generated.ts';
/** The entries, by the names of the strings: `WATCHDOG_CODE` of `watchdog.worker.ts`. */
const WORKERS = Object.fromEntries(
  readdirSync(`${ROOT}src`, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.worker.ts'))
    .sort()
    .map((file) => [codeName(basename(file, '.worker.ts')), `src/${file.replaceAll('\\', '/')}`]),
);
/** Node.js takes module hooks from an ES module only. */
const ES_MODULES = new Set(['MODULE_HOOKS_CODE']);

function codeName(/** @type {string} */ file) {
  return `${file.toUpperCase().replaceAll('-', '_')}_CODE`;
}

async function bundle(entry, format) {
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    metafile: true,
    entryPoints: [entry],
    bundle: true,
    write: false,
    platform: 'node',
    format,
    target: 'node20.18',
    minify: true,
    charset: 'utf8',
    legalComments: 'none',
  });
  return { text: outputFiles[0].text.trim(), metafile };
}

/** Bundles the threads' code; the file is written only if it changes. Returns what is in it. */
export async function generateWorkerCode() {
  const made = await Promise.all(
    Object.entries(WORKERS).map(async ([name, entry]) => ({
      name,
      entry,
      ...(await bundle(entry, ES_MODULES.has(name) ? 'esm' : 'cjs')),
    })),
  );
  const constants = made.map(
    ({ name, entry, text }) => `/** ${entry} */\nexport const ${name} = ${JSON.stringify(text)};\n`,
  );
  const code = `// Made by scripts/worker-code.mjs from the files named below.\n${constants.join('')}`;
  const file = `${ROOT}${GENERATED_FILE}`;
  if (read(file) !== code) writeFileSync(file, code);
  return made.map(({ metafile }) => metafile);
}

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined; // a clean clone
  }
}
