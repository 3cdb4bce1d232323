// A body of tens of MB is parsed, measured and validated, each in a turn of the event loop of its
// own.
const { createServer } = require('node:http');
const { default: Ajv } = require('ajv');
const { serve, startInstrumented, truthOf } = require('./support/telemetry.cjs');

const { sdk } = startInstrumented({ thresholdMillis: 60 });
const express = require('express');

const person = {
  type: 'object',
  required: ['name', 'email'],
  properties: {
    name: { type: 'string', pattern: '^[A-Z][a-z]+( [A-Z][a-z]+)*$', maxLength: 100 },
    email: {
      type: 'string',
      maxLength: 100,
      allOf: [
        '^[a-z0-9.]+@',
        '@([a-z0-9]+\\.)+[a-z]{2,}$',
        '^[^@]+@[^@]+$',
        '^((?!\\.\\.).)*$',
        '^[^ ]*[a-z]$',
      ].map((pattern) => ({ pattern })),
    },
  },
  additionalProperties: false,
};
/** Each of the shapes is tried, and the last one fits. */
const party = {
  anyOf: [
    { ...person, required: ['name', 'email', 'vat'] },
    { ...person, required: ['name', 'email', 'licence'] },
    person,
  ],
};
const validate = new Ajv({ allErrors: true }).compile({
  type: 'array',
  items: {
    type: 'object',
    required: ['id', 'buyer', 'seller', 'amount', 'tags'],
    properties: {
      id: { type: 'string', pattern: '^order-[0-9]+$' },
      buyer: party,
      seller: party,
      amount: { type: 'number', minimum: 0 },
      tags: { type: 'array', items: { enum: ['new', 'paid', 'shipped'] }, uniqueItems: true },
    },
    additionalProperties: false,
  },
});

const app = express();
app.post('/orders', (request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const size = request.get('x-size');
    const orders = truthOf(`parse ${size}`, () => JSON.parse(Buffer.concat(chunks).toString()));
    setImmediate(() => {
      const bytes = truthOf(`measure ${size}`, () =>
        Buffer.byteLength(JSON.stringify(orders, null, 2)),
      );
      setImmediate(() => {
        const valid = truthOf(`validate ${size}`, () => validate(orders));
        setImmediate(() => response.status(valid ? 200 : 400).send({ bytes }));
      });
    });
  });
});

serve(createServer(app), sdk);
