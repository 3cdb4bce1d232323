import { start } from '../../lib/consumer.js';

export const dynamic = 'force-dynamic';

export function GET() {
  start();
  return Response.json('started');
}
