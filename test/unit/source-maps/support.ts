/** Real source maps, made by esbuild, and where something is in a text. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type BuildOptions, buildSync } from 'esbuild';

export const SOURCES = {
  'src/main.ts': `import { renderReport } from './report.ts';
import { sum as total, späteSumme } from './lib/sum.ts';

interface Row {
  readonly price: number;
}

export const handleRequest = (rows: Row[]): string => {
  const prices: number[] = rows.map((row) => row.price);
  return renderReport('MARK-main', total(prices) + späteSumme(prices));
};
console.log(handleRequest([{ price: 1 }, { price: 2 }]));
`,
  'src/report.ts': `/** Types go, and lines with them. */
type Title = string;

export function renderReport(title: Title, value: number): string {
  const lines: string[] = [];
  for (let i = 0; i < 3; i++) lines.push(title + i);
  return lines.join('MARK-report') + value;
}
`,
  'src/lib/sum.ts': `export function sum(values: number[]): number {
  return values.reduce((left, right) => left + right, values.indexOf('MARK-sum' as never));
}
export const späteSumme = async (values: number[]) => '🐢🐢' + sum(values) + 'MARK-late';
`,
} as const;

const folders: string[] = [];

/** A folder with these files; {@link removeFolders} removes it. */
export function makeFolder(files: Readonly<Record<string, string | Buffer>> = SOURCES): string {
  // Links resolved, as in the stack of what runs: macOS has one, and Windows short names.
  const folder = realpathSync.native(mkdtempSync(path.join(tmpdir(), 'source-maps-')));
  folders.push(folder);
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  return folder;
}

export function removeFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

/** Builds `src/main.ts` of the folder into `dist/main.js`, with its map beside it. */
export function buildApp(folder: string, options: BuildOptions = {}): string {
  const outfile = path.join(folder, 'dist/main.js');
  buildSync({
    absWorkingDir: folder,
    entryPoints: ['src/main.ts'],
    bundle: true,
    minify: true,
    sourcemap: true,
    platform: 'node',
    charset: 'utf8',
    logLevel: 'error',
    outfile,
    ...options,
  });
  return outfile;
}

/** Line and column of a text in another one, from 1. */
export function placeOf(text: string, what: string): { line: number; column: number } {
  const before = text.slice(0, text.indexOf(what)).split('\n');
  return { line: before.length, column: (before.at(-1) as string).length + 1 };
}
