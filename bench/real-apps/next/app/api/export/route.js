import { exportOrders } from '../../../lib/orders.js';

export async function GET() {
  return new Response(exportOrders(150_000));
}
