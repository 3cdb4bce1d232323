// Promises: npm runs quietly, and when it fails there is one message with the first lines of what npm said.
const { spawnSync } = require('node:child_process');

const ENOUGH_LINES = 12;

/**
 * @param {string[]} args
 * @param {string} cwd
 * @returns {string} what npm wrote to stdout
 * @throws {Error} when npm cannot be started or fails
 */
function npm(args, cwd) {
  const { status, stdout, stderr, error } = spawnSync('npm', [...args, '--loglevel=error'], {
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
