// A service that computes before it listens. Its client asks until it is there, and ends it.
const { spawn } = require('node:child_process');
const { createServer } = require('node:http');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { running } = require('../../../support/thread-times.cjs');

const socketPath = join(tmpdir(), `late-server-${process.pid}`);
const ASK = `
  const { get } = require('node:http');
  (function ask() {
    const again = () => setTimeout(ask, 1);
    get({ socketPath: process.argv[1] }, (answer) => answer.resume()).on('error', again);
  })();
`;
const env = { ...process.env, NODE_OPTIONS: '' };
// Not Node.js itself: what starts that may only launch the application.
spawn('sh', ['-c', 'exec "$@"', 'sh', process.execPath, '-e', ASK, socketPath], { env });

function compute() {
  for (const goesOn = running(600); goesOn(); );
}

setTimeout(() => {
  compute();
  createServer((_request, response) => {
    response.end();
    setTimeout(() => process.exit(), 200);
  }).listen(socketPath);
}, 200);
