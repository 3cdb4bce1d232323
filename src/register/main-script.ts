/** The script that the process was started with. */
import { readFileSync, realpathSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';

/** A line of an ES module that CommonJS cannot have. */
const ES_MODULE_LINE = /^(?:import\s*[\w{*'"]|export\s*[\w{*])/m;

/**
 * Whether it is an ES module. Call it when the application is loaded. False if it is not
 * known, as for code that is given to `--eval`.
 */
export function isMainEsModule(): boolean {
  const [, script] = process.argv;
  // Runs the script in another process.
  if (process.execArgv.some((option) => /^--(?:test|watch)\b/.test(option))) return false;
  const { _eval: evaluated } = process as { _eval?: unknown };
  if (process.mainModule !== undefined || evaluated != null || script === undefined) return false;
  try {
    return isEsModule(realpathSync(script));
  } catch {
    // It is no file: what another loader makes of it is not known.
    return false;
  }
}

/** Decides as Node.js does. */
function isEsModule(file: string): boolean {
  const extension = extname(file);
  if (['.mjs', '.mts'].includes(extension)) return true;
  if (!['', '.js', '.ts'].includes(extension)) return false;
  const type = packageTypeOf(file);
  return type === undefined ? ES_MODULE_LINE.test(readFileSync(file, 'utf8')) : type === 'module';
}

function packageTypeOf(file: string): string | undefined {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    try {
      return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).type;
    } catch {
      // There is no package.json in this folder.
    }
    if (folder === dirname(folder)) return undefined;
  }
}
