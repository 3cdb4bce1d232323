import { pbkdf2Sync } from 'node:crypto';
import { createServer } from 'node:http';

const server = createServer((_request, response) => response.end(renderReport()));
server.listen(0, '127.0.0.1', () => setTimeout(visit, 1000));

async function visit() {
  await (await fetch(`http://127.0.0.1:${server.address().port}/report`)).text();
  server.close();
}

function renderReport() {
  for (let i = 0; i < 400; i++) pbkdf2Sync('', '', 1000, 64, 'sha512');
  return 'done';
}
