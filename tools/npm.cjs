// Guarantees: npm runs quietly, and when it fails there is one message with the first lines of what
// npm said.
const { spawnSync } = require('node:child_process');
const { dirname, join } = require('node:path');

const ENOUGH_LINES = 12;

/**
 * Windows starts `npm.cmd` through a shell only, and a shell has rules of its own for arguments.
 */
function npmCommand() {
  if (process.platform !== 'win32') return ['npm'];
  const beside = join(dirname(process.execPath), 'node_modules/npm/bin/npm-cli.js');
  return [process.execPath, process.env['npm_execpath'] ?? beside];
}

/**
 * @param {string[]} args
 * @param {string} cwd
 * @returns {string} what npm wrote to stdout
 * @throws {Error} when npm cannot be started or fails
 */
function npm(args, cwd) {
  const [command = 'npm', ...before] = npmCommand();
  const allArgs = [...before, ...args, '--loglevel=error', '--no-audit', '--no-fund'];
  const { status, stdout, stderr, error } = spawnSync(command, allArgs, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status === 0) return stdout;
  const said = `${stdout ?? ''}${stderr ?? ''}`
    .trim()
    .split('\n')
    .slice(0, ENOUGH_LINES)
    .join('\n');
  throw new Error(`\`npm ${args.join(' ')}\` failed in ${cwd}\n${error?.message ?? said}`);
}

module.exports = { npm };
