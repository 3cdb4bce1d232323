import { copyOrders } from '../../../lib/orders.js';

export async function GET() {
  const copied = await copyOrders(30_000);
  return Response.json({ count: copied.length });
}
