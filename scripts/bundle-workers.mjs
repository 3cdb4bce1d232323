/**
 * Bundles the code of the worker threads into strings: `src/capture/worker-code.generated.ts`. A string survives what a file beside
 * the package's own does not: bundlers, and both module systems.
 */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const WORKERS = {
  WATCHDOG_CODE: 'src/capture/watchdog.worker.ts',
  REPORTER_CODE: 'src/unfinished/reporter.worker.ts',
  SOURCE_MAP_CODE: 'src/source-maps/source-map.worker.ts',
};

async function bundle(entry) {
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: [entry],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    target: 'node20.18',
    minify: true,
    charset: 'utf8',
    legalComments: 'none',
  });
  return outputFiles[0].text.trim();
}

const constants = await Promise.all(
  Object.entries(WORKERS).map(
    async ([name, entry]) =>
      `/** ${entry} */\nexport const ${name} = ${JSON.stringify(await bundle(entry))};\n`,
  ),
);
await writeFile(
  `${ROOT}src/capture/worker-code.generated.ts`,
  `// Made by scripts/bundle-workers.mjs from the files named below.\n${constants.join('')}`,
);
