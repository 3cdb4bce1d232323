import { pbkdf2Sync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const server = createServer((_request, response) => response.end(renderReport()));
server.listen(0, '127.0.0.1', () => setTimeout(visit, 1000));

async function visit(): Promise<void> {
  const { port } = server.address() as AddressInfo;
  await (await fetch(`http://127.0.0.1:${port}/report`)).text();
  server.close();
}

function renderReport(): string {
  for (let i = 0; i < 400; i++) pbkdf2Sync('', '', 1000, 64, 'sha512');
  return 'done';
}
