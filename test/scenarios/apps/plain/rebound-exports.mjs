// An ES module whose import is assigned to after it was evaluated, as server builds of frameworks
// have it.
import { createServer } from 'node:http';
import { install, render } from './rebound-view.mjs';

const before = render();
install(() => 'new');

const server = createServer((_request, response) => {
  response.end(`${before} ${render()}`);
  server.close();
}).listen(0, '127.0.0.1', () => console.log(`listening ${server.address().port}`));
