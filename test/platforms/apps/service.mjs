/** The same as an ES module, which asks for nothing by `require`. */
import { createServer } from 'node:http';
import times from './thread-times.cjs';

const BLOCK_MILLIS = 200;

function hashAll() {
  const isRunning = times.running(BLOCK_MILLIS);
  let hash = 0;
  // Nearly all of its time is its own, not that of the clock.
  while (isRunning()) for (let i = 0; i < 200_000; i++) hash = (hash * 31 + i) | 0;
  return hash;
}

const server = createServer((_request, response) => {
  hashAll();
  response.end('done');
});
server.listen(0, '127.0.0.1', () => console.log(`listening ${server.address().port}`));
