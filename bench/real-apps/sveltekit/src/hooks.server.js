export async function handle({ event, resolve }) {
  return resolve(event, {
    transformPageChunk: ({ html }) => (event.url.pathname === '/table' ? addAnchors(html) : html),
  });
}

function addAnchors(html) {
  let result = html;
  for (let i = 0; i < 40; i++)
    result = result.replace(
      new RegExp(`<td>(\\d*${i})</td>`, 'g'),
      (_, id) => `<td id="r${id}">${id}</td>`,
    );
  return result;
}
