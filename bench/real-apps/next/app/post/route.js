import { ask } from '../../lib/consumer.js';

export function GET(request) {
  void ask(request);
  return Response.json('posted');
}
