// Guarantees: a product of `real-apps`, installed and started as its users do: what its cases ask
// is asked here as well.
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../tools/paths.cjs';
import { Client } from '../real-apps/support/client.mjs';

export const sourceOf = (/** @type {string} */ name) => join(ROOT, 'bench/real-apps', name);

/** Copies its project, with more in its `package.json`. */
export function copyProject(
  /** @type {string} */ name,
  /** @type {string} */ folder,
  /** @type {{ dependencies?: object, scripts?: object }} */ more,
) {
  cpSync(sourceOf(name), folder, { recursive: true });
  const file = join(folder, 'package.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8'));
  const dependencies = { ...manifest.dependencies, ...more.dependencies };
  writeFileSync(file, JSON.stringify({ ...manifest, ...more, dependencies }));
}

/** Asks each case once, or those alone that a name has. */
export async function askCases(
  /** @type {string} */ url,
  /** @type {import('../real-apps/support/launch.mjs').App} */ { cases },
  /** @type {string} */ folder,
) {
  const client = new Client(url, folder);
  for (const each of cases) {
    client.begin();
    await each.ask(client);
  }
}
