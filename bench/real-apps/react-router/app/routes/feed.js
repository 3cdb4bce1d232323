import { orders } from '../lib/data.js';

export function loader() {
  const items = orders.map((order) => ({
    ...order,
    url: new URL(`/orders/${order.id}`, 'https://example.com').href,
    at: new Date(1.7e12 + order.day * 864e5),
  }));
  return new Response(JSON.stringify({ items }), {
    headers: { 'content-type': 'application/feed+json' },
  });
}
