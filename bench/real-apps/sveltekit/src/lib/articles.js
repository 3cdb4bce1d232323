import { marked } from 'marked';

const part =
  '## A part\n\nSome *text* with `code`, a [link](https://example.com) and\n\n- a\n- b\n\n';

export function renderArticle(id) {
  return marked.parse(`# Article ${id}\n\n${part.repeat(1200)}`);
}

export const rows = Array.from({ length: 12000 }, (_, i) => ({
  id: i,
  name: `Row ${i}`,
  value: (i * 7919) % 1009,
  day: i % 365,
}));
