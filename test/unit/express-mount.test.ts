import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ExpressRequest, mountOf } from '../../src/core/stalls/express-mount.ts';

/** It has no types of its own. */
const express = jest.requireActual('express');

let server: Server;
afterEach(() => {
  server.close();
  server.closeAllConnections();
});

/** What is told of requests to these paths. */
async function mountsOf(mounts: readonly (string | RegExp)[], ...paths: string[]) {
  const app = express();
  const inner = express
    .Router()
    .get('/leaf', (request: ExpressRequest, response: ServerResponse) => {
      response.end(mountOf(request));
    });
  const outer = express.Router().use('/inner', inner);
  for (const mount of mounts) app.use(mount, outer);
  server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const told: string[] = [];
  for (const path of paths)
    told.push(await (await fetch(`http://127.0.0.1:${port}${path}/inner/leaf`)).text());
  return told;
}

test('the names under which routers are mounted, one in another', async () => {
  expect(await mountsOf(['/imports', '/v1/exports'], '/imports', '/v1/exports')).toEqual([
    '/imports/inner',
    '/v1/exports/inner',
  ]);
});

test.each([
  ['a parameter', '/users/:user', '/users/jane', '/users/*/inner'],
  ['what looks like a word', /^\/[a-z]+/, '/jane', '/*/inner'],
  ['a number', /^\/\d+/, '/8472', '/*/inner'],
  ['an id', /^\/[0-9a-f]{8}-[1-5][0-9a-f]{3}/, '/3f2a90bc-5a00', '/*/inner'],
])('%s is a value', async (_, mount, path, told) => {
  expect(await mountsOf([mount], path, path)).toEqual([told, told]);
});

test('the patterns of a router are bounded, and those of others are no longer told', async () => {
  const mounts = Array.from({ length: 6 }, (_, i) => `/mount${i}`);
  expect(await mountsOf(mounts, ...mounts)).toEqual([
    ...mounts.slice(0, 4).map((mount) => `${mount}/inner`),
    '/*/*',
    '/*/*',
  ]);
});

test('a router that is not reached from its application', () => {
  const request = { route: { path: '/' }, baseUrl: '/users/jane' };
  expect(mountOf(request)).toBe('/*/*');
  expect(mountOf({ ...request, route: {}, app: {} as never })).toBe('/*/*');
});
