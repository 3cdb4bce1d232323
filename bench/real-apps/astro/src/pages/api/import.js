import groupBy from 'lodash-es/groupBy.js';
import orderBy from 'lodash-es/orderBy.js';

export async function POST({ request }) {
  const rows = await request.json();
  const ordered = orderBy(rows, ['name', 'id'], ['asc', 'desc']);
  return Response.json({ groups: Object.keys(groupBy(ordered, 'name')).length });
}
