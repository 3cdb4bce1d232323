import { search } from '../../lib/search.js';

export const GET = ({ url }) => Response.json(search(url.searchParams.get('q')));
