// SvelteKit with a chain of timers that a request starts, which takes jobs from a list.
/** @type {import('../support/launch.mjs').App} */
export default {
  title: 'SvelteKit',
  build: [['node_modules/vite/bin/vite.js', 'build']],
  args: () => [],
  cases: [],
  consumers: [{ name: 'SvelteKit', args: () => ['build/index.js'], preload: '--import' }],
};
