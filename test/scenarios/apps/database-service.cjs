// A transaction that has to be done in time, on a database that is idle, and a report that blocks
// the event loop meanwhile.
const { createServer } = require('node:http');
const { PgInstrumentation } = require('@opentelemetry/instrumentation-pg');
const { block, serve, startInstrumented } = require('./support/telemetry.cjs');

const pg = { stalls: true, instrumentations: [new PgInstrumentation()] };
const { sdk } = startInstrumented({}, pg);
const express = require('express');
const { Client } = require('pg');

const [, , port, limitMillis, reportMillis] = process.argv;
const database = new Client({
  host: '127.0.0.1',
  port: Number(port),
  user: 'postgres',
  database: 'postgres',
});

async function inTime(limit, work) {
  let timer;
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('transaction took too long')), limit);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function transfer() {
  await database.query('BEGIN');
  // Long enough for another request to come meanwhile.
  const answer = database.query('UPDATE accounts SET balance = balance - 1 FROM pg_sleep(0.2)');
  process.stdout.write('querying\n');
  await answer;
  await database.query('COMMIT');
}

const app = express();
app.get('/transfer', async (_request, response) => {
  try {
    await inTime(Number(limitMillis), transfer());
    response.send('done');
  } catch (error) {
    response.status(500).send(error.message);
  }
});
app.get('/report', (_request, response) => {
  block('report', Number(reportMillis));
  response.send('done');
});

database
  .connect()
  .then(() => database.query('CREATE TABLE accounts AS SELECT 100 AS balance'))
  .then(() => serve(createServer(app), sdk))
  .then(() => database.end());
