/**
 * Whether this process only starts another one, which inherits its `NODE_OPTIONS` and its
 * environment: `npm start`, `tsx server.ts`. The port is for that one.
 */

/** Packages whose command starts the application in a process of its own. */
const PACKAGES = [
  '@dotenvx/dotenvx',
  'concurrently',
  'corepack',
  'cross-env',
  'dotenv-cli',
  'nodemon',
  'npm',
  'npm-run-all',
  'npm-run-all2',
  'pnpm',
  'ts-node-dev',
  'tsx',
  'turbo',
  'yarn',
].join('|');
const OF_PACKAGE = new RegExp(`/(?:node_modules|corepack/v\\d+)/(?:${PACKAGES})/`);
/** As they are installed outside of any package; the daemon of PM2, but not what it starts. */
const OTHERS = /\/(?:npm-cli|npx-cli|pnpm|pnpx|yarn(?:-[\d.]+)?)\.[cm]?js$|\/pm2\/lib\/Daemon\.js$/;

/** @param mainFile the main script, links resolved */
export function isLauncher(mainFile = ''): boolean {
  const file = mainFile.replaceAll('\\', '/');
  const inPackage = file.lastIndexOf('/node_modules/');
  // An application may itself be installed below a launcher's folder.
  return OTHERS.test(file) || OF_PACKAGE.test(inPackage === -1 ? file : file.slice(inPackage));
}
