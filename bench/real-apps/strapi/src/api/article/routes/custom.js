const route = (path, action, config = {}, method = 'GET') => ({
  method,
  path,
  handler: `api::article.article.${action}`,
  config: { auth: false, ...config },
});

module.exports = {
  routes: [
    route('/reports/words', 'words'),
    route('/reports/similar', 'similar'),
    route('/reports/titles', 'export'),
    route('/reports/all', 'find', { middlewares: ['api::article.checksum'] }),
    route('/imports', 'import', { policies: ['global::signature'] }, 'POST'),
    route('/reindex', 'reindex', {}, 'POST'),
  ],
};
