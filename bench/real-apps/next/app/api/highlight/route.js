import { highlightSource } from '../../../lib/articles.js';

export async function GET() {
  return new Response(highlightSource());
}
