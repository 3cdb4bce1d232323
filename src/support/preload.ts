/**
 * Runs an entry that is preloaded. What it throws would end the application before it begins:
 * `yarn` 1 and `npm --legacy-peer-deps` install no peer dependency, for one.
 */
import { sayAs } from './stderr.ts';

const API = '@opentelemetry/api';

export function preload(entry: string, start: () => void): void {
  try {
    start();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const isMissing = code === 'MODULE_NOT_FOUND' && message.includes(API);
    if (isMissing) sayAs(entry)(`does nothing without its peer: npm install ${API}`);
    else sayAs(entry)('does nothing', error);
  }
}
