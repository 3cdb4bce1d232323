// A GraphQL service in which a field's resolver calls a slow helper. Its instrumentation wraps
// every resolver.
const { createServer } = require('node:http');
const { GraphQLInstrumentation } = require('@opentelemetry/instrumentation-graphql');
const { running } = require('../../support/thread-times.cjs');
const { serve, startInstrumented, truthOf } = require('./support/telemetry.cjs');

const { sdk } = startInstrumented({}, { instrumentations: [new GraphQLInstrumentation()] });
const express = require('express');
const { buildSchema, graphql } = require('graphql');

const WORK_MILLIS = 150;

/** The slow synchronous helper. */
function sumUpOrders() {
  let sum = 0;
  for (const goesOn = running(WORK_MILLIS); goesOn(); ) {
    for (let i = 0; i < 1000; i++) sum = (sum * 31 + i) % 1_000_003;
  }
  return sum;
}

const schema = buildSchema(`
  type Customer { name: String, total: Int }
  type Query { customer: Customer }
`);
const rootValue = {
  customer: async () => ({ name: 'customer', total: () => truthOf('total', sumUpOrders) }),
};

const app = express();
app.get('/customer', async (_request, response) => {
  response.json(await graphql({ schema, rootValue, source: '{ customer { name total } }' }));
});

serve(createServer(app), sdk);
