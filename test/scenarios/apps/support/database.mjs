// A real PostgreSQL, in a process of its own: as WebAssembly, behind a socket.
import { PGlite } from '@electric-sql/pglite';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';

const server = new PGLiteSocketServer({ db: await PGlite.create(), host: '127.0.0.1', port: 0 });
server.addEventListener('listening', ({ detail }) =>
  process.stdout.write(`listening ${detail.port}\n`),
);
await server.start();
// It ends with the test that started it.
process.stdin.on('end', () => process.exit()).resume();
