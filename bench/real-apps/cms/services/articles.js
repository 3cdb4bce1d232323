const MarkdownIt = require('markdown-it');
const sanitizeHtml = require('sanitize-html');

class Articles {
  constructor() {
    this.md = new MarkdownIt({ html: true, linkify: true, typographer: true });
  }

  render(markdown) {
    return this.clean(this.md.render(markdown));
  }

  clean(html) {
    return sanitizeHtml(html, {
      allowedTags: sanitizeHtml.defaults.allowedTags.concat(['h2', 'table', 'tr', 'td']),
    });
  }
}

module.exports = new Articles();
