// A service that knows nothing of OpenTelemetry; its only clients are in this file.
const { channel } = require('node:diagnostics_channel');
const { readFile } = require('node:fs/promises');
const { createServer, get, request: send } = require('node:http');
const { connect } = require('node:net');
const { setTimeout: wait } = require('node:timers/promises');
const express = require('express');
const { running } = require('../../../support/thread-times.cjs');

function block() {
  for (const goesOn = running(150); goesOn(); );
}

const app = express();
app.get('/sync/:user', (_request, response) => {
  block();
  response.end();
});
app.get('/await', async (_request, response) => {
  await readFile(__filename);
  block();
  response.end();
});
app.get('/timer', (_request, response) => {
  setTimeout(() => {
    block();
    response.end();
  }, 50);
});
app.post('/body', express.text({ limit: '1mb' }), (_request, response) => {
  block();
  response.end();
});
const imports = express.Router().get('/', (_request, response) => {
  block();
  response.end();
});
app.use('/imports', imports).use('/users/:user/comments', imports);
app.get('/waits', (_request, response) => setTimeout(() => response.end(), 100));

const WAYS = {
  async express(port) {
    for (const path of ['/sync/jane', '/await', '/timer']) {
      const waits = answer(get({ port, path: '/waits' }));
      await wait(50);
      await answer(get({ port, path }));
      await waits;
      await wait(200);
    }
    const post = send({
      port,
      path: '/body',
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
    });
    post.write('a'.repeat(1000));
    await wait(50);
    post.end('b');
    await answer(post);
  },
  async mounted(port) {
    for (const path of ['/imports', '/users/jane/comments']) {
      await answer(get({ port, path }));
      await wait(100);
    }
  },
  /** Its body is listened to, and what that starts blocks. */
  async body(port) {
    await answer(send({ port, path: '/body', method: 'POST' }).end('{}'));
  },
  /** The same for a chunk that comes later than the request. */
  async chunk(port) {
    const post = send({ port, path: '/chunk', method: 'POST' });
    post.write('{');
    await wait(50);
    post.write('}');
    await wait(300);
    await answer(post.end());
  },
  async plain(port) {
    await answer(get({ port, path: '/reset/jane@example.com/deadbeef?token=secret' }));
  },
  async poller(port) {
    await answer(get({ port, path: '/poll' }));
    await wait(700);
  },
  /** As much of an SDK as has contexts. */
  async sdk(port) {
    const { context } = require('@opentelemetry/api');
    const { AsyncLocalStorageContextManager } = require('@opentelemetry/context-async-hooks');
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    await answer(get({ port, path: '/at-once' }));
  },
  /** Clients that go away: before they have their answer, with others behind it, in its middle. */
  async aborted(port) {
    for (let i = 0; i < 20; i++) {
      const socket = connect(port);
      socket.write('GET /never HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(3));
      await wait(5);
      socket.destroy();
    }
    for (let i = 0; i < 300; i++) await answer(get({ port, path: '/at-once', agent: false }));
    await printKept();
  },
  /** Each leaves a timer behind, which keeps its asynchronous context. */
  async timers(port) {
    for (let i = 0; i < 100; i++) await answer(get({ port, path: '/timer-left', agent: false }));
    await printKept();
  },
};

async function printKept() {
  await wait(50);
  // Two: what a collection frees may keep something else alive.
  for (let i = 0; i < 2; i++, await wait(20)) global.gc();
  console.log(`kept ${alive}`);
}

function poll(rounds) {
  block();
  if (rounds > 1) setTimeout(poll, 200, rounds - 1);
}

const answer = (sent) =>
  new Promise((resolve, reject) => {
    sent.on('error', reject).on('response', (response) => response.on('end', resolve).resume());
  });

function listenToBody(request, response) {
  request.resume().on('end', () =>
    setTimeout(() => {
      block();
      response.end();
    }, 10),
  );
}

function listenToChunks(request, response) {
  request.on('data', (chunk) => {
    if (chunk.includes('}')) setImmediate(setTimeout, block, 10);
  });
  request.on('end', () => response.end());
}

let alive = 0;
const collected = new FinalizationRegistry(() => alive--);
const plain = createServer((request, response) => {
  alive++;
  collected.register(request);
  if (request.url === '/never') return;
  if (request.url === '/body') {
    listenToBody(request, response);
    return;
  }
  if (request.url === '/chunk') {
    listenToChunks(request, response);
    return;
  }
  if (request.url === '/timer-left') setInterval(() => {}, 1e6);
  else if (request.url === '/poll') setTimeout(poll, 200, 2);
  else if (request.url !== '/at-once') block();
  response.end();
});

const way = process.argv[2];
const server = (['express', 'mounted'].includes(way) ? createServer(app) : plain).listen(
  0,
  '127.0.0.1',
  async () => {
    // The thread that watches comes up meanwhile.
    await wait(500);
    await WAYS[way](server.address().port);
    console.log(`subscribed ${channel('http.server.request.start').hasSubscribers}`);
    await wait(100);
    process.exit();
  },
);
