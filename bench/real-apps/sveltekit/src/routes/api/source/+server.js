import { highlightAll } from '$lib/source.js';

export const GET = async () => new Response(await highlightAll());
