/** What tests read of the project's Markdown files. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(__dirname, '../../..');

const pagesOf = (folder: string) =>
  readdirSync(join(ROOT, folder))
    .filter((file) => file.endsWith('.md'))
    .map((file) => join(folder, file));
const pagesBelow = (folder: string) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md') && !file.includes('node_modules'))
    .map((file) => join(folder, file));

/** Paths from the root of the repository. */
export const PAGES: readonly string[] = [
  ...['.', 'docs', 'bench', 'scripts', 'semconv'].flatMap(pagesOf),
  ...['deploy', 'src', 'test'].flatMap(pagesBelow),
];

export const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** Without its blocks of code. */
export function prose(page: string): string {
  return read(page).replaceAll(/^( *)```[\s\S]*?^ *```$/gm, '');
}

/** As GitHub makes them, numbered if a heading comes twice. */
export function anchors(page: string): Set<string> {
  const found = new Set<string>();
  const text = prose(page);
  for (const [, heading = ''] of text.matchAll(/^#+ (.*)$/gm)) {
    const anchor = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
      .replaceAll(' ', '-');
    let unique = anchor;
    for (let n = 1; found.has(unique); n++) unique = `${anchor}-${n}`;
    found.add(unique);
  }
  for (const [, id = ''] of text.matchAll(/<a id="([^"]+)">/g)) found.add(id);
  return found;
}

export interface Link {
  readonly target: string;
  readonly anchor: string | undefined;
}

/** Links to files of the repository, pictures included. */
export function relativeLinks(page: string): Link[] {
  const folder = join(page, '..');
  return [...prose(page).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].map(
    ([, file = '', anchor]) => ({ target: file === '' ? page : join(folder, file), anchor }),
  );
}
