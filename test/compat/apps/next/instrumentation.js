/** Next.js calls this when a server starts, in each runtime that it has. */
export async function register() {
  if (process.env.NEXT_RUNTIME !== 'nodejs') return;
  const { registerOTel } = await import('@vercel/otel');
  const { EventLoopInstrumentation } = await import('opentelemetry-instrumentation-event-loop');
  registerOTel({
    serviceName: 'next',
    instrumentations: ['fetch', new EventLoopInstrumentation()],
  });
}
