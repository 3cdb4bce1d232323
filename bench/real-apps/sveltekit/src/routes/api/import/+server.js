import { json } from '@sveltejs/kit';

export async function POST({ request }) {
  const text = await request.text();
  const known = new Map();
  for (const line of text.split('\n')) {
    const [, name, amount] = /^([^;]*);\s*([\d.]+)/.exec(line) ?? [];
    if (name) known.set(name.trim().toUpperCase(), (known.get(name) ?? 0) + Number(amount));
  }
  return json({ names: known.size });
}
