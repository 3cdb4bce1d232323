import { start } from '../../lib/consumer.js';

export function GET() {
  start();
  return Response.json('started');
}
