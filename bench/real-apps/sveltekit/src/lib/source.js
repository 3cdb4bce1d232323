import { setTimeout } from 'node:timers/promises';

export async function highlightAll() {
  const { default: hljs } = await import('highlight.js');
  await setTimeout(1);
  const code = 'export const total = (rows) => rows.reduce((sum, { price }) => sum + price, 0);\n';
  return hljs.highlight(code.repeat(900), { language: 'javascript' }).value;
}
