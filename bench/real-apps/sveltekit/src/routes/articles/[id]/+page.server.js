import { renderArticle } from '$lib/articles.js';

export const load = async ({ params }) => ({ html: renderArticle(params.id) });
