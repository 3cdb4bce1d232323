const { readFile } = require('node:fs/promises');
const data = require('./data');

exports.search = async function search(text) {
  await readFile(__filename);
  const found = data.articles.map((article) => ({ article, score: distance(article.title, text) }));
  return found
    .sort((a, b) => a.score - b.score)
    .slice(0, 5)
    .map(({ article }) => article);
};

function distance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next.push(
        Math.min(next[j - 1] + 1, row[j] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)),
      );
    row = next;
  }
  return row[b.length];
}
