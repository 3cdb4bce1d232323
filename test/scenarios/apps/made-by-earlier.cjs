// A request makes a connection, an interval, a chain of timeouts and a consumer, and ends. Later
// their code blocks, while another request waits for the connection. One that stays open makes a
// connection, over which others then call a database, and what may publish.
const { createServer, connect } = require('node:net');
const { EventEmitter, on, once } = require('node:events');
const { SpanKind, trace } = require('@opentelemetry/api');
const { block, inRequest, main, startInstrumented, wait } = require('./support/telemetry.cjs');

const MILLIS = 200;

const { sdk } = startInstrumented({}, { stalls: true });
const tracer = trace.getTracer('app');

async function consume(messages) {
  for await (const [name] of on(messages, 'message')) {
    block(name, MILLIS);
    messages.emit('consumed');
  }
}

async function callOverItsSocket(port) {
  const socket = connect(port, '127.0.0.1');
  let answered;
  let name;
  socket.on('data', () => {
    block(`answer to ${name}`, MILLIS);
    answered();
  });
  await once(socket, 'connect');
  const call = async (attributes) => {
    const span = tracer.startSpan(`call of ${name}`, {
      kind: SpanKind.CLIENT,
      attributes: { 'server.port': port, ...attributes },
    });
    socket.write('ping');
    await new Promise((resolve) => {
      answered = resolve;
    });
    span.end();
  };
  name = 'queries';
  await inRequest(name, () => call({ 'db.system.name': 'postgresql' }));
  name = 'publishes';
  await inRequest(name, () => call({ 'db.system.name': 'redis' }));
  socket.destroy();
}

main(sdk, async () => {
  const server = createServer((peer) => peer.pipe(peer));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  let socket;
  let answered;
  let refresh;
  let leftBehind;
  let polled;
  const messages = new EventEmitter();
  await inRequest('first', async () => {
    socket = connect(server.address().port, '127.0.0.1');
    socket.on('data', () => {
      block('answer', MILLIS);
      answered();
    });
    refresh = setInterval(() => {
      clearInterval(refresh);
      block('refresh', MILLIS);
    }, 300);
    leftBehind = new Promise((resolve) => {
      setTimeout(() => {
        block('left behind', MILLIS);
        resolve();
      }, 600);
    });
    polled = new Promise((resolve) => {
      const poll = (round) => {
        if (round > 0) block(`poll ${round}`, MILLIS);
        if (round < 2) setTimeout(poll, 500, round + 1);
        else resolve();
      };
      poll(0);
    });
    void consume(messages);
    await once(socket, 'connect');
  });
  await leftBehind;
  await polled;
  const consumed = once(messages, 'consumed');
  messages.emit('message', 'message');
  await consumed;
  await wait(100);
  await inRequest('asks', async () => {
    const answer = new Promise((resolve) => {
      answered = resolve;
    });
    socket.write('ping');
    await answer;
  });
  await wait(50);
  await inRequest('holds', () => callOverItsSocket(server.address().port));
  socket.destroy();
  server.close();
});
