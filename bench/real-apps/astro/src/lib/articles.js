import { marked } from 'marked';

const part =
  '## A part\n\nSome *text* with `code`, a [link](https://example.com) and\n\n- a\n- b\n\n';

export function render(id) {
  return marked.parse(`# Article ${id}\n\n${part.repeat(1200)}`);
}

export const articles = Array.from({ length: 9000 }, (_, i) => ({
  id: i,
  title: `Article ${i} about ${['orders', 'returns', 'invoices'][i % 3]}`,
  price: (i * 7919) % 1000,
  at: 1.7e12 + i * 864e5,
}));
