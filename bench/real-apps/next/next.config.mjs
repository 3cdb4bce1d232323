/**
 * As an application has it that wants readable stacks of its server: its maps, and nothing else.
 */
export default {
  experimental: { serverSourceMaps: true },
  turbopack: { root: import.meta.dirname },
};
