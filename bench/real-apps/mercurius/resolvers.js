const _ = require('lodash');
const { marked } = require('marked');
const data = require('./data');
const { search } = require('./search');

exports.resolvers = {
  Query: {
    orders: (root, { first }) => data.orders.slice(0, first),
    articles: (root, { first }) => data.articles.slice(0, first),
    statistics() {
      const groups = _.groupBy(data.orders, 'customer');
      const rows = _.map(groups, (orders, customer) => ({
        customer,
        count: orders.length,
        total: _.sumBy(orders, 'total'),
      }));
      return _.orderBy(rows, ['total', 'customer'], ['desc', 'asc']).slice(0, 20);
    },
    search: (root, { text }) => search(text),
  },
  Article: {
    html(article) {
      return marked.parse(article.text);
    },
  },
  Mutation: {
    tag(root, { text }) {
      return [...new Set(text.match(/\b(?:\w+\s){3}\w+(?=,)/g) ?? [])].slice(0, 5);
    },
  },
};

exports.loaders = {
  Article: {
    async related(queries) {
      return queries.map(({ obj }) =>
        data.articles
          .filter(({ id, tags }) => id !== obj.id && _.intersection(tags, obj.tags).length > 1)
          .slice(0, 5),
      );
    },
  },
};
