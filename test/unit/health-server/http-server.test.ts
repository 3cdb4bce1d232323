/** The health server's HTTP side, on a real socket. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import fc from 'fast-check';
import {
  createHealthHttpServer,
  MAX_CONNECTIONS,
} from '../../../src/threads/health-server/http-server.ts';
import type { Answer } from '../../../src/threads/health-server/livez.ts';

const OK: Answer = { statusCode: 200, body: '{"status":"ok"}' };
const FUZZ_MILLIS = 3000;
const DEADLINE_MILLIS = 500;
/** A status line that this server may send, its own or that of Node.js' parser. */
const STATUS_LINE = /^HTTP\/1\.1 (100|200|400|404|405|417|431|503) /;

let server: Server;
let port: number;
let livez: () => Promise<Answer>;

async function start(maxConnectionMillis?: number): Promise<void> {
  livez = async () => OK;
  server = createHealthHttpServer(() => livez(), maxConnectionMillis);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
}

async function stop(): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
}

beforeEach(() => start());
afterEach(stop);

function open(): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {}); // it may be reset
  return socket;
}

/** What the server sends back until it closes the connection. */
async function exchange(sent: string | Uint8Array): Promise<string> {
  const socket = open();
  let received = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text;
  });
  socket.end(sent);
  await once(socket, 'close');
  return received;
}

const request = (method: string, path: string) =>
  fetch(`http://127.0.0.1:${port}${path}`, { method });

test('GET /livez, with a query or without', async () => {
  for (const path of ['/livez', '/livez?verbose']) {
    const response = await request('GET', path);
    expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }]);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('cache-control')).toBe('no-store');
  }
});

test('503 is passed on', async () => {
  livez = async () => ({ statusCode: 503, body: '{"status":"stuck"}' });
  expect((await request('GET', '/livez')).status).toBe(503);
});

test.each(['/', '/livez/', '/livezz', '/LIVEZ', '/livez%20', '/../livez/x'])(
  '%s is not found',
  async (path) => {
    expect((await request('GET', path)).status).toBe(404);
    expect((await request('POST', path)).status).toBe(404);
  },
);

test('HEAD is answered as GET, without the body', async () => {
  const received = await exchange('HEAD /livez HTTP/1.1\r\nhost: x\r\n\r\n');
  expect(received).toMatch(/^HTTP\/1\.1 200 /);
  expect(received).toContain(`content-length: ${OK.body.length}`);
  expect(received).not.toContain(OK.body);
});

test.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])('other methods: %s', async (method) => {
  const response = await request(method, '/livez');
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
});

test('an answer that cannot be made closes the connection, and the next one is served', async () => {
  livez = () => Promise.reject(new Error('no'));
  await expect(request('GET', '/livez')).rejects.toThrow();
  livez = async () => OK;
  expect((await request('GET', '/livez')).status).toBe(200);
});

test('one answer for a connection, however many requests it brings', async () => {
  const received = await exchange('GET /livez HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(5));
  expect(received.match(/HTTP\/1\.1 200/g)).toHaveLength(1);
});

test('too large a header is refused', async () => {
  const received = await exchange(
    `GET /livez HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(10_000)}\r\n\r\n`,
  );
  expect(received).toMatch(/^HTTP\/1\.1 431 /);
});

test('whatever is sent, nothing of it comes back, and the server goes on', async () => {
  await stop();
  await start(DEADLINE_MILLIS); // what is not complete is waited for
  const marker = 'Zq7';
  const text = fc.string({ maxLength: 30 }).map((given) => `${marker}${given}`);
  const header = fc.tuple(text, text).map(([name, value]) => `${name}: ${value}\r\n`);
  const message = fc.oneof(
    text,
    fc
      .tuple(fc.constantFrom('GET', 'POST', 'CONNECT', 'TRACE', marker), text, fc.array(header))
      .map(([method, path, headers]) => `${method} /${path} HTTP/1.1\r\n${headers.join('')}\r\n`),
    fc
      .tuple(fc.constantFrom('upgrade', 'expect', 'transfer-encoding', 'content-length'), text)
      .map(
        ([name, value]) => `GET /livez HTTP/1.1\r\nhost: x\r\n${name}: ${value}\r\n\r\n${value}`,
      ),
    fc.uint8Array({ maxLength: 300 }),
  );
  await fc.assert(
    fc.asyncProperty(message, async (sent) => {
      const received = await exchange(sent);
      expect(received).not.toContain(marker);
      if (received !== '') expect(received).toMatch(STATUS_LINE);
    }),
    { numRuns: 500, interruptAfterTimeLimit: FUZZ_MILLIS },
  );
  expect((await request('GET', '/livez')).status).toBe(200);
}, 20_000);

test('slow clients: the oldest connection makes room, so that a probe is answered', async () => {
  const sockets = Array.from({ length: 1000 }, open);
  for (const socket of sockets) socket.write('GET /livez HTTP/1.1\r\nx: ');
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  const closed = sockets.slice(0, -MAX_CONNECTIONS).map((socket) => {
    return socket.closed ? undefined : once(socket, 'close');
  });
  await Promise.all(closed);
  const open1000 = await new Promise<number>((resolve) =>
    server.getConnections((_, count) => resolve(count)),
  );
  expect(open1000).toBeLessThanOrEqual(MAX_CONNECTIONS);
  expect((await request('GET', '/livez')).status).toBe(200);
  for (const socket of sockets) socket.destroy();
}, 20_000);

test('a connection has a deadline, however busy it is', async () => {
  await stop();
  await start(DEADLINE_MILLIS);
  const socket = open();
  const started = performance.now();
  socket.write('GET /livez HTTP/1.1\r\nx: ');
  const dripping = setInterval(() => socket.write('x'), 20);
  // What is on its way to it when it is closed makes that a reset.
  socket.on('error', () => {});
  await new Promise((resolve) => socket.once('close', resolve));
  clearInterval(dripping);
  expect(performance.now() - started).toBeGreaterThan(DEADLINE_MILLIS - 5);
});
