import { block, blockInSteps, warm } from '../../support/work.cjs';

const ANSWERS = { warm, handler: block, steps: blockInSteps };

export const dynamic = 'force-dynamic';

export async function GET(_request, { params }) {
  const { what } = await params;
  return Response.json(await ANSWERS[what]());
}
