/** GraphQL Yoga: the field's name is the path, so that it is driven as the others are. */
const { GraphQLInstrumentation } = require('@opentelemetry/instrumentation-graphql');
const { startNodeSdk } = require('./support/node-sdk.cjs');

const shutdown = startNodeSdk(new GraphQLInstrumentation());
const { createServer } = require('node:http');
const { createSchema, createYoga } = require('graphql-yoga');
const { serveHttp } = require('./support/serve.cjs');
const { resolvers, typeDefs } = require('./graphql-schema.cjs');

const yoga = createYoga({
  schema: createSchema({ typeDefs, resolvers }),
  graphqlEndpoint: '/:field',
});

serveHttp(createServer(yoga), shutdown);
