/**
 * The HTTP server of the health server's thread. Guarantees: fixed answers, to which nothing that
 * a client sends is added; no more than {@link MAX_CONNECTIONS} at a time, each for
 * {@link MAX_CONNECTION_MILLIS} at most; no timer while there is none.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { clearTimeout, setTimeout } from '../../support/time.ts';
import type { Answer } from './livez.ts';

/** A new connection closes the oldest one past this limit: slow clients keep no probe out. */
export const MAX_CONNECTIONS = 100;
const MAX_CONNECTION_MILLIS = 5000;
const MAX_HEADER_BYTES = 8192;
/** Connections have their own deadline: this check would wake an idle thread up. 24 days. */
const NEVER_MILLIS = 2 ** 31 - 1;

const NOT_FOUND = '{"error":"not found"}';
const WRONG_METHOD = '{"error":"method not allowed"}';

export function createHealthHttpServer(
  livez: () => Promise<Answer>,
  maxConnectionMillis = MAX_CONNECTION_MILLIS,
): Server {
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: 0,
      requestTimeout: 0,
      connectionsCheckingInterval: NEVER_MILLIS,
    },
    (request, response) => void answer(request, response, livez),
  );
  const connections = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    const deadline = setTimeout(() => socket.destroy(), maxConnectionMillis);
    socket.on('close', () => {
      clearTimeout(deadline);
      connections.delete(socket);
    });
    const [oldest] = connections;
    if (connections.size > MAX_CONNECTIONS) oldest?.destroy();
  });
  return server;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  livez: () => Promise<Answer>,
): Promise<void> {
  const { method, url = '' } = request;
  try {
    if (url !== '/livez' && !url.startsWith('/livez?')) send(response, 404, NOT_FOUND);
    else if (method !== 'GET' && method !== 'HEAD')
      send(response, 405, WRONG_METHOD, { allow: 'GET, HEAD' });
    else {
      const { statusCode, body } = await livez();
      send(response, statusCode, body);
    }
  } catch {
    // A probe without an answer fails, as one of a process that is gone.
    response.destroy();
  }
}

function send(
  response: ServerResponse,
  statusCode: number,
  body: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(statusCode, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    connection: 'close',
    ...headers,
  });
  response.end(body);
}
