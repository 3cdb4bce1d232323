import { createHighlighter } from 'shiki';

const code = Array.from(
  { length: 150 },
  (_, i) => `export const f${i} = async (a) => ({ ...a, b: \`\${a.b}\`, c: ${i} });`,
).join('\n');

export async function highlight() {
  const highlighter = await createHighlighter({ themes: ['nord'], langs: ['javascript'] });
  const html = highlighter.codeToHtml(code, { lang: 'javascript', theme: 'nord' });
  highlighter.dispose();
  return html;
}
