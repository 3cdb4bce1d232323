import { renderArticle } from '../../../lib/articles.js';

export const dynamic = 'force-dynamic';

export default async function ArticlePage({ params }) {
  const { slug } = await params;
  // biome-ignore lint/security/noDangerouslySetInnerHtml: what it renders is ours
  return <article dangerouslySetInnerHTML={{ __html: renderArticle(slug) }} />;
}
