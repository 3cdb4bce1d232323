/**
 * Runs an entry that is preloaded. What it throws would end the application before it begins:
 * `yarn` 1 and `npm --legacy-peer-deps` install no peer dependency, for one.
 */
import { parse } from 'node:path';
import { sayAs } from './stderr.ts';

const API = '@opentelemetry/api';
/** The main scripts of package managers, which run scripts in processes of their own. */
const PACKAGE_MANAGER = /^(?:np[mx]|pnp[mx]|yarn|yarnpkg|corepack)(?:-cli|-\d[\d.]*)?$/;

export function preload(entry: string, start: () => void): void {
  // It inherits `NODE_OPTIONS`, as the application does that it launches.
  if (PACKAGE_MANAGER.test(parse(process.argv[1] ?? '').name)) return;
  try {
    start();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const isMissing = code === 'MODULE_NOT_FOUND' && message.includes(API);
    if (isMissing) sayAs(entry)(`does nothing without its peer: npm install ${API}`);
    else sayAs(entry)('does nothing', error);
  }
}
