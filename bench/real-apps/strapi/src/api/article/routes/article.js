const open = { auth: false };

module.exports = require('@strapi/strapi').factories.createCoreRouter('api::article.article', {
  config: { find: open, findOne: open, create: open },
});
