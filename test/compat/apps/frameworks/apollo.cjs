/** Apollo Server, with its own standalone HTTP server. */
const { GraphQLInstrumentation } = require('@opentelemetry/instrumentation-graphql');
const { startNodeSdk } = require('./support/node-sdk.cjs');

const shutdown = startNodeSdk(new GraphQLInstrumentation());
const { ApolloServer } = require('@apollo/server');
const { startStandaloneServer } = require('@apollo/server/standalone');
const { serveUntilInputEnds } = require('./support/serve.cjs');
const { resolvers, typeDefs } = require('./graphql-schema.cjs');

(async () => {
  const server = new ApolloServer({ typeDefs, resolvers });
  const { url } = await startStandaloneServer(server, { listen: { port: 0, host: '127.0.0.1' } });
  await serveUntilInputEnds(new URL(url).port, async () => {
    await server.stop();
    await shutdown();
  });
})();
