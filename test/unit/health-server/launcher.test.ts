import { isLauncher } from '../../../src/health-server/launcher.ts';

test.each([
  '/usr/lib/node_modules/npm/bin/npm-cli.js',
  'C:\\Program Files\\nodejs\\node_modules\\npm\\bin\\npx-cli.js',
  '/app/node_modules/tsx/dist/cli.mjs',
  '/app/node_modules/.pnpm/nodemon@3.1.0/node_modules/nodemon/bin/nodemon.js',
  '/app/.yarn/releases/yarn-4.5.0.cjs',
  '/root/.cache/node/corepack/v1/pnpm/9.1.0/bin/pnpm.cjs',
  '/app/node_modules/@dotenvx/dotenvx/src/cli/dotenvx.js',
  '/usr/lib/node_modules/pm2/lib/Daemon.js',
])('%s starts the application', (file) => {
  expect(isLauncher(file)).toBe(true);
});

test.each([
  undefined,
  '/app/server.js',
  '/app/npm.js',
  '/app/tsx/server.js',
  '/usr/lib/node_modules/pm2/lib/ProcessContainer.js',
  '/app/node_modules/next/dist/bin/next',
  '/app/node_modules/npm/node_modules/server/index.js',
])('%s is the application', (file) => {
  expect(isLauncher(file)).toBe(false);
});
