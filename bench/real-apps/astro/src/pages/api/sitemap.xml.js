import { articles } from '../../lib/articles.js';

export async function GET() {
  const urls = articles.map(({ id, title, at }) => {
    const slug = title
      .normalize('NFD')
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-');
    const date = new Date(at).toLocaleDateString('sv-SE', { timeZone: 'Europe/Paris' });
    return `<url><loc>https://example.com/articles/${id}/${encodeURIComponent(slug)}</loc><lastmod>${date}</lastmod></url>`;
  });
  return new Response(`<urlset>${urls.join('\n')}</urlset>`, {
    headers: { 'content-type': 'application/xml' },
  });
}
