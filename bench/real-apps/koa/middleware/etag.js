import { createHash } from 'node:crypto';

export function etag() {
  return async (ctx, next) => {
    await next();
    if (ctx.body === undefined || typeof ctx.body === 'string') return;
    const text = JSON.stringify(ctx.body);
    ctx.etag = createHash('sha256').update(text).digest('base64url');
    ctx.type = 'application/json';
    ctx.body = text;
  };
}
