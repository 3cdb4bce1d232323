import type { HttpContext } from '@adonisjs/core/http';

const took = new Map<string, number>();

/** How long requests took, by path. It waits, and does next to nothing. */
export default class Timing {
  async handle(ctx: HttpContext, next: () => Promise<unknown>) {
    const from = performance.now();
    await next();
    took.set(ctx.request.url(), performance.now() - from);
  }
}
