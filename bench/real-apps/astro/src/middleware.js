export const onRequest = async ({ url }, next) => {
  const response = await next();
  if (url.pathname !== '/links') return response;
  let html = await response.text();
  for (let i = 0; i < 60; i++)
    html = html.replace(
      new RegExp(`href="/articles/(\\d*${i}\\d)"`, 'g'),
      (_, id) => `href="https://example.com/a/${id}"`,
    );
  return new Response(html, { headers: { 'content-type': 'text/html' } });
};
