/** Next.js calls this when a server starts, in each runtime that it has. */
export async function register() {
  if (process.env.NEXT_RUNTIME !== 'nodejs') return;
  const { NodeSDK } = await import('@opentelemetry/sdk-node');
  const { EventLoopInstrumentation } = await import('opentelemetry-instrumentation-event-loop');
  new NodeSDK({ instrumentations: [new EventLoopInstrumentation()] }).start();
}
