import { renderArticle } from '../lib/articles.js';

export async function loader({ params }) {
  return { html: renderArticle(params.id) };
}

export default function Article({ loaderData }) {
  // biome-ignore lint/security/noDangerouslySetInnerHtml: what it renders is ours
  return <article dangerouslySetInnerHTML={{ __html: loaderData.html }} />;
}
