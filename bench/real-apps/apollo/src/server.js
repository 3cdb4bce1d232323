const { readFileSync } = require('node:fs');
const http = require('node:http');
const { join } = require('node:path');
const { ApolloServer } = require('@apollo/server');
const { expressMiddleware } = require('@as-integrations/express5');
const { ApolloServerPluginDrainHttpServer } = require('@apollo/server/plugin/drainHttpServer');
const cors = require('cors');
const express = require('express');
const depthLimit = require('graphql-depth-limit');
const { createContext } = require('./context');
const { maskPlugin } = require('./plugins/mask');
const { resolvers } = require('./resolvers');

async function main() {
  const app = express();
  const httpServer = http.createServer(app);
  const apollo = new ApolloServer({
    typeDefs: readFileSync(join(__dirname, 'schema.graphql'), 'utf8'),
    resolvers,
    validationRules: [depthLimit(8)],
    plugins: [maskPlugin(), ApolloServerPluginDrainHttpServer({ httpServer })],
    stopOnTerminationSignals: false,
  });
  await apollo.start();
  app.get('/health', (req, res) => res.send('ok'));
  app.use(
    '/graphql',
    cors(),
    express.json({ limit: '10mb' }),
    expressMiddleware(apollo, { context: createContext }),
  );
  httpServer.listen(Number(process.env.PORT), process.env.HOST);
  process.on('SIGTERM', async () => {
    await apollo.stop();
    console.log('stopped');
    process.exit(0);
  });
}

main();
