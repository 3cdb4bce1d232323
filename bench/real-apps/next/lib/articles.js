import hljs from 'highlight.js/lib/core';
import javascript from 'highlight.js/lib/languages/javascript';
import { marked } from 'marked';

hljs.registerLanguage('javascript', javascript);

const paragraph = '# A title\n\nSome *text* with `code` and a [link](https://example.com).\n\n';
const line = 'export const total = (rows) => rows.reduce((sum, { price }) => sum + price, 0);\n';

export function renderArticle(slug) {
  const text = `${slug}\n\n${paragraph.repeat(4000)}`;
  return marked.parse(text);
}

export function highlightSource() {
  const source = line.repeat(1500);
  return hljs.highlight(source, { language: 'javascript' }).value;
}
