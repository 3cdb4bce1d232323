import { summarize } from '../../../lib/report.js';

export async function GET() {
  return Response.json(summarize(4000));
}
