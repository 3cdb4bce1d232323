const open = { auth: false };

module.exports = require('@strapi/strapi').factories.createCoreRouter('api::tag.tag', {
  config: { find: open, findOne: open },
});
