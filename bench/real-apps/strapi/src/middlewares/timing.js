/** How long requests took, by path. It waits, and does next to nothing. */
module.exports = () =>
  async function timing(ctx, next) {
    const from = performance.now();
    await next();
    ctx.state.took = performance.now() - from;
  };
