/** V8 names ES modules by URL. No dependency on OpenTelemetry: worker threads use it too. */
import { fileURLToPath } from 'node:url';

/** The path of a `file:` URL; anything else as it is. */
export function toPath(file: string): string {
  try {
    return file.startsWith('file:') ? fileURLToPath(file) : file;
  } catch {
    return file;
  }
}
