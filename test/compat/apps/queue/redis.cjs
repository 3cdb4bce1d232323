/**
 * A Redis server of the machine's own, on a Unix socket in a folder of its own, that ends with this
 * process, however that ends.
 */
const { spawn } = require('node:child_process');
const { once } = require('node:events');
const { mkdtempSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const path = require('node:path');

/**
 * Ends the server when its own standard input does, which it does when its parent process is gone.
 */
const UNTIL_INPUT_ENDS = 'redis-server "$@" & server=$!; cat; kill -KILL $server';

async function startRedis() {
  const folder = mkdtempSync(path.join(tmpdir(), 'event-loop-redis-'));
  const socket = path.join(folder, 'redis.sock');
  const options = ['--port', '0', '--unixsocket', socket, '--save', '', '--dir', folder];
  const shell = spawn('sh', ['-c', UNTIL_INPUT_ENDS, 'redis', ...options], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  let printed = '';
  await new Promise((resolve, reject) => {
    shell.once('exit', () => reject(new Error(`redis-server ended: ${printed}`)));
    shell.stdout.setEncoding('utf8').on('data', (text) => {
      printed += text;
      if (printed.includes('eady to accept connections')) resolve();
    });
  });
  return {
    connection: { path: socket },
    async close() {
      const gone = once(shell, 'close');
      shell.stdin.end();
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

module.exports = { startRedis };
