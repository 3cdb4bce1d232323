import { ask } from '../../lib/consumer.js';

export async function GET({ url }) {
  await ask(url);
  return Response.json('done');
}
