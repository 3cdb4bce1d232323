// Starts the service in one of the ways that launchers have, and ends when it ends; or is an
// application itself that has a helper.
const { fork, spawn } = require('node:child_process');
const cluster = require('node:cluster');
const { connect, createServer } = require('node:net');
const path = require('node:path');

const [, , way, ...args] = process.argv;
const service = path.join(__dirname, 'server.cjs');
const server = [process.execPath, service, ...args];
const serve = (...listen) =>
  createServer(() => {}).listen(...listen, () => {
    const helper = fork(path.join(__dirname, 'helper.cjs'));
    helper.once('message', () => process.stdout.write(`helped ${process.pid}\n`));
    process.stdin.resume().on('end', () => process.exit());
  });

const WAYS = {
  // cross-env, dotenv, nest
  'inherits stdio': () => spawn(server[0], server.slice(1), { stdio: 'inherit' }),
  fork: () => fork(service, args),
  // PM2
  cluster() {
    cluster.setupPrimary({ exec: service, args });
    return cluster.fork().process;
  },

  'a server with a helper': () => void serve(0, '127.0.0.1'),
  'a client with a helper'() {
    const elsewhere = createServer(() => {}).unref();
    elsewhere.listen(0, '127.0.0.1', () => {
      // Only the socket is left.
      connect(elsewhere.address().port, '127.0.0.1');
      serve(path.join(process.env.TMPDIR ?? '/tmp', `event-loop-${process.pid}.sock`));
    });
  },
};

WAYS[way]()?.on('exit', (code) => process.exit(code ?? 1));
