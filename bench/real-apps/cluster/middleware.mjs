export async function minify(context, next) {
  await next();
  if (typeof context.body !== 'string' || !context.body.startsWith('<')) return;
  let page = context.body;
  for (const [pattern, by] of [
    [/<!--[\s\S]*?-->/g, ''],
    [/\s+/g, ' '],
    [/>\s+</g, '><'],
    [/\s+(\w+)=""/g, ' $1'],
    [/(\w+)\s*=\s*"([\w-]+)"/g, '$1=$2'],
  ])
    page = page.replace(pattern, by);
  context.body = page;
}
