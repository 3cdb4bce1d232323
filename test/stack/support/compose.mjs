// docker-compose.yml as the test reads it: what it sets there, it sets here too.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const FILE = join(import.meta.dirname, '../../../docker-compose.yml');

/** @returns {any} the file, with its merge keys (`<<`) resolved */
export function readCompose() {
  return parse(readFileSync(FILE, 'utf8'), { merge: true });
}

/** @returns {Record<string, string>} the environment of a service */
export function composeEnvironment(service) {
  return readCompose().services[service].environment ?? {};
}
