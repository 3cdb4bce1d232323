import { buildSchema, graphql } from 'graphql';

const schema = buildSchema('type Order { id: Int, name: String } type Query { orders: [Order] }');

export async function queryOrders(count) {
  const orders = async () => Array.from({ length: count }, (_, id) => ({ id, name: `${id}` }));
  const source = `{ orders { ${Array.from({ length: 10 }, (_, i) => `a${i}: name`).join(' ')} } }`;
  const { data } = await graphql({ schema, source, rootValue: { orders } });
  return { count: data.orders.length };
}
