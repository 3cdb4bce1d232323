/**
 * Packages that a block is not named by as long as there is anything else on the stack. A name is
 * in one of the lists for what the package does to the stack, not for how much it is used. A name
 * that ends with `/` or `-` stands for all that begin with it.
 */

/** Agents, and what agents hook modules with, wrap what others call. */
const AGENTS = listed(`
  require-in-the-middle import-in-the-middle shimmer async-listener continuation-local-storage
  cls-hooked diagnostic-channel diagnostic-channel-publishers
  opentelemetry-instrumentation-event-loop @opentelemetry/
  @sentry/ @splunk/ @newrelic/ @datadog/ @instana/ @dynatrace/ @honeycombio/ @contrast/
  @highlight-run/ @elastic/opentelemetry-node @azure/monitor-opentelemetry
  @azure/monitor-opentelemetry-exporter @google-cloud/trace-agent @google-cloud/opentelemetry-
  @logtail/opentelemetry @vercel/otel @fastify/otel @prisma/instrumentation
  dd-trace newrelic elastic-apm-node appdynamics applicationinsights signalfx-tracing lightrun
  scout-apm raygun-apm
`);

/**
 * Web frameworks: they call handlers that they were given, also those of packages that they depend
 * on, or whose `package.json` is not there.
 */
const DISPATCHERS = listed(`
  express router connect koa koa-compose koa-router @koa/ fastify avvio light-my-request
  find-my-way middie @fastify/middie @fastify/express restify hono @hono/ polka h3 nitropack next
  astro nuxt moleculer @hapi/ @nestjs/core @nestjs/platform-
`);

export function isAgentPackage(name: string): boolean {
  return AGENTS(name);
}

export function isDispatcher(name: string): boolean {
  return DISPATCHERS(name);
}

function listed(text: string): (name: string) => boolean {
  const names = text.trim().split(/\s+/);
  const exact = new Set(names);
  const prefixes = names.filter((name) => /[/-]$/.test(name));
  return (name) => exact.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
}
