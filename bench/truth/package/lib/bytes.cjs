// @ts-nocheck: an application as there are many.
const iconv = require('iconv-lite');
const math = require('mathjs');
const { pack, unpack } = require('msgpackr');
const pako = require('pako');
const protobuf = require('protobufjs');
const { orders } = require('./data.cjs');

const { root } = protobuf.parse(`syntax = "proto3";
message Item { string sku = 1; double price = 2; repeated string tags = 3; }
message Order { int32 id = 1; string customer = 2; string email = 3; repeated Item items = 4; }
message Orders { repeated Order orders = 1; }`);
const Orders = root.lookupType('Orders');
const text = (n) => JSON.stringify(orders(n));

function store(list) {
  return Orders.encode(Orders.fromObject({ orders: list })).finish();
}

function load(buffer) {
  const message = Orders.decode(buffer);
  return message.orders.length;
}

const send = (list) => pack(list);

function receive(buffer) {
  return unpack(buffer);
}

function archive(input) {
  const packed = pako.gzip(input, { level: 6 });
  return packed.length;
}

function restore(input) {
  return pako.ungzip(input, { to: 'string' });
}

function toLatin(input) {
  return iconv.decode(iconv.encode(input, 'shift_jis'), 'shift_jis');
}

function solve(n) {
  const matrix = math.random([n, n]);
  return math.inv(matrix);
}

function evaluate(n) {
  let sum = 0;
  for (let x = 0; x < n; x++) sum += math.evaluate('sqrt(x^2 + 3) / 2', { x });
  return sum;
}

module.exports = {
  'protobufjs encode': { change: store, size: 5000, make: orders },
  'protobufjs decode': { change: load, size: 30_000, make: (n) => store(orders(n)) },
  'msgpackr pack': { change: send, size: 50_000, make: orders },
  'msgpackr unpack': { change: receive, size: 50_000, make: (n) => pack(orders(n)) },
  'pako gzip': { change: archive, size: 5000, make: text },
  'pako ungzip': { change: restore, size: 30_000, make: (n) => pako.gzip(text(n)) },
  'iconv-lite': { change: toLatin, size: 10_000, make: text },
  'mathjs inv': { change: solve, size: 40, make: Math.ceil },
  'mathjs evaluate': { change: evaluate, size: 1000, make: Math.ceil },
};
