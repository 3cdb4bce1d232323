/**
 * Packages that a block is not named by as long as there is anything else on the stack. Promises: a
 * name is in one of the lists for what the package does to the stack, not for how much it is used.
 */

/** They wrap what others call: agents, and what those hook modules with. */
const AGENTS = new Set([
  'require-in-the-middle',
  'import-in-the-middle',
  'shimmer',
  'opentelemetry-instrumentation-event-loop',
  'dd-trace',
  'newrelic',
  'elastic-apm-node',
  'appdynamics',
  'applicationinsights',
  'diagnostic-channel',
  'diagnostic-channel-publishers',
  'async-listener',
  'continuation-local-storage',
  'cls-hooked',
  'signalfx-tracing',
  'lightrun',
  'scout-apm',
  'raygun-apm',
]);
const AGENT_SCOPES = [
  '@opentelemetry/',
  '@sentry/',
  '@splunk/',
  '@newrelic/',
  '@datadog/',
  '@elastic/opentelemetry-node',
  '@instana/',
  '@dynatrace/',
  '@azure/monitor-opentelemetry',
  '@honeycombio/',
  '@google-cloud/trace-agent',
  '@google-cloud/opentelemetry-',
  '@contrast/',
  '@highlight-run/',
  '@logtail/opentelemetry',
  '@vercel/otel',
  '@fastify/otel',
  '@prisma/instrumentation',
];

/**
 * Packages that call the application, or glue between packages: their name says nothing about what
 * ran.
 */
const DISPATCHERS = new Set([
  'express',
  'router',
  'connect',
  'koa',
  'koa-compose',
  'koa-router',
  'fastify',
  'avvio',
  'light-my-request',
  'find-my-way',
  'middie',
  'restify',
  'hono',
  'polka',
  'h3',
  'nitropack',
  'next',
  'astro',
  'nuxt',
  'moleculer',
  'reusify',
  'fastq',
  'raw-body',
  'on-finished',
  'on-headers',
  'ee-first',
  'end-of-stream',
  'readable-stream',
  'through2',
  'pump',
  'duplexify',
  'once',
  'async',
  'bluebird',
  'q',
  'co',
  'asap',
  'p-limit',
  'p-queue',
  'p-map',
  'eventemitter3',
  'eventemitter2',
  'tslib',
  'core-js',
  'regenerator-runtime',
  'rxjs',
  'zone.js',
  'neo-async',
  'gensync',
]);
const DISPATCHER_SCOPES = [
  '@koa/',
  '@hapi/',
  '@nestjs/core',
  '@nestjs/platform-',
  '@fastify/middie',
  '@fastify/express',
  '@hono/',
  '@babel/runtime',
  '@swc/helpers',
];

export function isAgentPackage(name: string): boolean {
  return AGENTS.has(name) || AGENT_SCOPES.some((scope) => name.startsWith(scope));
}

export function isDispatcher(name: string): boolean {
  return DISPATCHERS.has(name) || DISPATCHER_SCOPES.some((scope) => name.startsWith(scope));
}
