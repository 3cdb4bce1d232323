// @ts-nocheck: an application as there are many.
const hljs = require('highlight.js');
const { Marked } = require('marked');
const MarkdownIt = require('markdown-it');
const Prism = require('prismjs');
const sanitizeHtml = require('sanitize-html');
const TurndownService = require('turndown');
const { code, html, prose } = require('./data.cjs');

const marked = new Marked();
const renderer = {
  code({ text, lang }) {
    const { value } = hljs.highlight(text, { language: lang ?? 'javascript' });
    return `<pre>${value}</pre>`;
  },
};
const coloured = new Marked({ renderer });
const markdown = new MarkdownIt({ html: true, linkify: true });

function highlightFile(text) {
  return hljs.highlight(text, { language: 'typescript' }).value;
}

function guessLanguage(text) {
  const guess = hljs.highlightAuto(text);
  return guess.language;
}

const renderArticle = (text) => marked.parse(text);

function renderTutorial(text) {
  return coloured.parse(text);
}

const pages = {
  render(text) {
    return markdown.render(text);
  },
};

function colourSnippet(text) {
  return Prism.highlight(text, Prism.languages.javascript, 'javascript');
}

function cleanComment(text) {
  const clean = sanitizeHtml(text, { allowedTags: ['a', 'b', 'p'] });
  return clean.length;
}

function toMarkdown(text) {
  return new TurndownService().turndown(text);
}

module.exports = {
  'highlight.js': { change: highlightFile, size: 500, make: code },
  'highlight.js highlightAuto': { change: guessLanguage, size: 30, make: code },
  marked: { change: renderArticle, size: 2000, make: prose },
  'marked, highlight.js in a renderer': {
    change: renderer.code,
    size: 500,
    make: (n) => `# Tutorial\n\n\`\`\`typescript\n${code(n)}\n\`\`\`\n`,
    run: renderTutorial,
  },
  'markdown-it': {
    change: pages.render,
    size: 2000,
    make: prose,
    run: (text) => pages.render(text),
  },
  prismjs: { change: colourSnippet, size: 1500, make: code },
  'sanitize-html': { change: cleanComment, size: 1500, make: html },
  turndown: { change: toMarkdown, size: 200, make: html },
};
