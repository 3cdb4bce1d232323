import { marked } from 'marked';

const part =
  '## A part\n\nSome *text* with `code`, a [link](https://example.com) and\n\n- a\n- b\n\n';

export function renderArticle(id) {
  return marked.parse(`# Article ${id}\n\n${part.repeat(1200)}`);
}
