const WORDS = 'alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu'.split(' ');
const words = (count, step) =>
  Array.from({ length: count }, (_, i) => `${WORDS[(i * step) % 12]}${(i * step) % 40}`).join(' ');

module.exports = {
  /** `seed.cjs` fills the database. */
  async bootstrap({ strapi }) {
    if (!process.env.SEED) return;
    const tags = [];
    for (let i = 0; i < 20; i++)
      tags.push(await strapi.documents('api::tag.tag').create({ data: { name: `tag ${i}` } }));
    for (let i = 0; i < 200; i++) {
      await strapi.documents('api::article.article').create({
        data: {
          title: `Article ${i}`,
          text: words(400, 7 + (i % 5)),
          tags: tags.slice(i % 10, (i % 10) + 8).map(({ documentId }) => documentId),
          sections: Array.from({ length: 6 }, (_, n) => ({
            heading: `Part ${n}`,
            text: words(20, n + 1),
            position: n,
          })),
        },
      });
    }
  },
};
