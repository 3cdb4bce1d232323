const { block, blockInSteps, warm } = require('./support/work.cjs');

const typeDefs = 'type Query { warm: Float handler: Float steps: Float }';
const resolvers = {
  Query: {
    warm: () => warm().hash,
    handler: () => block().hash,
    steps: async () => (await blockInSteps()).hash,
  },
};

module.exports = { resolvers, typeDefs };
