import { ask } from '../../lib/consumer.js';

export function GET({ url }) {
  void ask(url);
  return Response.json('posted');
}
