import { checkPassword } from '../../../lib/accounts.js';

export async function GET() {
  return Response.json({ right: checkPassword('secret') });
}
