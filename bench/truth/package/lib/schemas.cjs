// @ts-nocheck: an application as there are many.
const Ajv = require('ajv').default;
const fastJson = require('fast-json-stringify');
const Joi = require('joi');
const validator = require('validator');
const yup = require('yup');
const { z } = require('zod');
const { orders } = require('./data.cjs');

const Orders = z.array(
  z.object({
    id: z.number().int(),
    email: z.email(),
    placed: z.iso.datetime(),
    items: z.array(z.object({ sku: z.string(), price: z.number().positive() })),
  }),
);
const isOrders = new Ajv({ allErrors: true }).compile({
  type: 'array',
  uniqueItems: true,
  items: {
    type: 'object',
    required: ['id', 'email'],
    properties: { email: { type: 'string', pattern: '^[a-z0-9]+@[a-z.]+$' } },
  },
});
const joiOrders = Joi.array().items(
  Joi.object({ id: Joi.number().integer(), email: Joi.string().email() }).unknown(),
);
const yupOrders = yup.array().of(yup.object({ id: yup.number(), email: yup.string().email() }));
const toText = fastJson({
  type: 'array',
  items: {
    type: 'object',
    properties: {
      id: { type: 'integer' },
      customer: { type: 'string' },
      placed: { type: 'string', format: 'date-time' },
      items: { type: 'array', items: { type: 'object', properties: { sku: { type: 'string' } } } },
    },
  },
});

class Intake {
  static accept(list) {
    return Orders.parse(list);
  }
  check(list) {
    return isOrders(list) ? [] : isOrders.errors;
  }
}
const intake = new Intake();

function checkWithJoi(list) {
  const { error } = joiOrders.validate(list);
  return error?.message;
}

function checkForm(list) {
  return yupOrders.validateSync(list);
}

function checkAddresses(list) {
  let bad = 0;
  for (const { email } of list) if (!validator.isEmail(email)) bad++;
  return bad;
}

function respond(list) {
  return toText(list);
}

module.exports = {
  zod: {
    change: { name: 'Intake.accept' },
    size: 10_000,
    make: orders,
    run: (list) => Intake.accept(list),
  },
  'ajv uniqueItems': {
    change: { name: 'Intake.check' },
    size: 300,
    make: orders,
    run: (list) => intake.check(list),
  },
  joi: { change: checkWithJoi, size: 2000, make: orders },
  yup: { change: checkForm, size: 1000, make: orders },
  validator: { change: checkAddresses, size: 20_000, make: orders },
  'fast-json-stringify': { change: respond, size: 50_000, make: orders },
};
