import { globalInterceptor, type Interceptor, type Provider } from '@loopback/core';

/** How long methods took. It waits, and does next to nothing. */
@globalInterceptor('timing')
export class TimingInterceptor implements Provider<Interceptor> {
  readonly took = new Map<string, number>();

  value(): Interceptor {
    return async (context, next) => {
      const from = performance.now();
      const result = await next();
      this.took.set(context.methodName, performance.now() - from);
      return result;
    };
  }
}
