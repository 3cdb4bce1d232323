/** Folders in which another copy of a package is found than everywhere else, as in a monorepo. */
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const API = '@opentelemetry/api';
const COPIED = ['opentelemetry-instrumentation-event-loop', API];

/**
 * Where a package has its code: `build` on the legacy line of OpenTelemetry, `dist` on the modern
 * one.
 */
const PARTS = ['dist', 'build', 'package.json'];

/** Where the copies find what is not copied. */
export const SHARED_PACKAGES = path.resolve(folderOf(API), '../..');

/** The version of the api that the tests use. */
export const apiVersion = manifestIn(folderOf(API))?.version ?? '';

/** @returns a folder with a copy of this package, and of the api in this version */
export function installApart(version: string): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'event-loop-apart-'));
  for (const name of COPIED) {
    const target = path.join(folder, 'node_modules', name);
    for (const part of PARTS) {
      const source = path.join(folderOf(name), part);
      if (existsSync(source)) cpSync(source, path.join(target, part), { recursive: true });
    }
  }
  const api = path.join(folder, 'node_modules', API);
  for (const file of readdirSync(api, { recursive: true, encoding: 'utf8' })) {
    // Bundled, it has its version in more places than one.
    if (!/(package\.json|\.[cm]?js)$/.test(file)) continue;
    const text = readFileSync(path.join(api, file), 'utf8');
    if (text.includes(apiVersion))
      writeFileSync(path.join(api, file), text.replaceAll(apiVersion, version));
  }
  return folder;
}

function manifestIn(folder: string): { name?: string; version: string } | undefined {
  const file = path.join(folder, 'package.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

function folderOf(name: string): string {
  let folder = path.dirname(require.resolve(name));
  while (manifestIn(folder)?.name !== name) folder = path.dirname(folder);
  return folder;
}
