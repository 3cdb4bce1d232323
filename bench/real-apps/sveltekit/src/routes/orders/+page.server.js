import { rows } from '$lib/articles.js';

export const load = async () => ({
  rows: rows
    .slice(0, 5000)
    .map((row) => ({ ...row, at: new Date(1.7e12 + row.id), tags: new Set(['a', row.name]) })),
});
