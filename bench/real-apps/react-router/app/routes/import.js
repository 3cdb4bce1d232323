export async function action({ request }) {
  const text = await request.text();
  const rows = text.split('\n').map((line) => line.match(/("[^"]*"|[^,]+)/g));
  const totals = new Map();
  for (const [id, name] of rows) totals.set(name.replaceAll('"', '').trim(), Number(id));
  return Response.json({ rows: rows.length, names: totals.size });
}
