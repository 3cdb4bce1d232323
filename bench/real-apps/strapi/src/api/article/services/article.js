const { factories } = require('@strapi/strapi');

module.exports = factories.createCoreService('api::article.article', ({ strapi }) => ({
  /** Pairs of articles that have many words in common. */
  async similar() {
    const articles = await strapi.documents('api::article.article').findMany({ limit: 60 });
    const sets = articles.map(({ text }) => text.split(' '));
    let pairs = 0;
    for (const words of sets) {
      for (const others of sets) {
        const shared = words.filter((word) => others.includes(word));
        if (shared.length > words.length / 2) pairs++;
      }
    }
    return pairs;
  },

  async export() {
    const articles = await strapi
      .documents('api::article.article')
      .findMany({ limit: 1000, populate: ['tags', 'sections'] });
    return articles.map(({ title }) => title).join('\n');
  },

  /** Returns at once. One article at a time is indexed, so that others get their turn. */
  reindex(count) {
    const queue = Array.from({ length: count }, (_, i) => i);
    const next = () => {
      const article = queue.shift();
      if (article === undefined) return;
      indexed.set(article, trigrams(`article ${article} `.repeat(30000)));
      setTimeout(next, 5);
    };
    setTimeout(next, 5);
  },
}));

const indexed = new Map();

function trigrams(text) {
  const counts = new Map();
  for (let i = 0; i + 3 <= text.length; i++) {
    const key = text.slice(i, i + 3);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts.size;
}
