import { readFile } from 'node:fs/promises';

export async function highlight() {
  const { codeToHtml } = await import('shiki');
  const code = await readFile(new URL('./db.mjs', import.meta.url), 'utf8');
  return codeToHtml(code.repeat(8), { lang: 'javascript', theme: 'nord' });
}
