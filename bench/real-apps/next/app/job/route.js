import { ask } from '../../lib/consumer.js';

export async function GET(request) {
  await ask(request);
  return Response.json('done');
}
