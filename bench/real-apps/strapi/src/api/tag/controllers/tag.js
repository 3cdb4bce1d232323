module.exports = require('@strapi/strapi').factories.createCoreController('api::tag.tag');
