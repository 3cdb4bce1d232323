import { queryOrders } from '../../../lib/graph.js';

export async function GET() {
  return Response.json(await queryOrders(4000));
}
