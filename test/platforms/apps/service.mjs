/** The same as an ES module, which asks for nothing by `require`. */
import { createServer } from 'node:http';
import times from './thread-times.cjs';

const BLOCK_MILLIS = 200;

function hashAll() {
  const isRunning = times.running(BLOCK_MILLIS);
  while (isRunning());
}

const server = createServer((_request, response) => {
  hashAll();
  response.end('done');
});
server.listen(0, '127.0.0.1', () => console.log(`listening ${server.address().port}`));
