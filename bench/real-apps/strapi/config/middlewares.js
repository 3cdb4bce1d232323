module.exports = [
  'strapi::errors',
  'global::timing',
  'strapi::security',
  'strapi::cors',
  'strapi::query',
  { name: 'strapi::body', config: { jsonLimit: '20mb' } },
  { name: 'strapi::favicon', config: { path: 'package.json' } },
  'strapi::public',
];
