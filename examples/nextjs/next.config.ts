import type { NextConfig } from 'next';

export default {
  // Both are loaded from node_modules: a bundle has one letter for the name of a function.
  serverExternalPackages: ['@opentelemetry/sdk-node', 'opentelemetry-instrumentation-event-loop'],
  experimental: { serverMinification: false },
  turbopack: { root: import.meta.dirname },
} satisfies NextConfig;
