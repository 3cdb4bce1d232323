// socket.io with an Express application beside it: the work is done for messages.
/** @type {any} */
let socket;

async function ask(
  /** @type {import('../support/client.mjs').Client} */ client,
  /** @type {string} */ name,
  /** @type {unknown[]} */ ...args
) {
  if (socket?.io.uri !== client.url) {
    socket?.close();
    socket = client
      .load('socket.io-client')
      .io(client.url, { transports: ['websocket'], reconnection: false });
    await new Promise((resolve) => socket.once('connect', resolve));
  }
  const answer = await socket.timeout(20_000).emitWithAck(name, ...args);
  client.answered(answer);
}
const html = Array.from(
  { length: 2500 },
  (_, i) =>
    `<p onclick="x(${i})">Hello <b>${i}</b> <script>evil()</script><a href="javascript:1">l</a></p>`,
).join('');
const words = (/** @type {number} */ n, /** @type {number} */ by) =>
  Array.from({ length: n }, (_, i) => `word${(i * by) % 97}`).join(' ');

/** @type {import('../support/launch.mjs').App} */
export default {
  title: 'socket.io',
  args: () => ['server.js'],
  ready: '/health',
  cases: [
    {
      name: 'sanitize-html in a message handler',
      ask: (client) => ask(client, 'post', html),
      parent: false,
      right: { file: 'handlers.js', in: ["socket.on('post'"] },
    },
    {
      name: 'diff-match-patch after await',
      ask: (client) => ask(client, 'edit', words(1400, 7), words(1400, 11)),
      parent: false,
      right: { file: 'documents.js', in: ['exports.merge'] },
    },
    {
      name: 'operations composed one by one',
      ask: (client) => ask(client, 'operations', 900),
      parent: false,
      right: { file: 'documents.js', in: ['exports.compose'] },
    },
    {
      name: 'broadcast to many rooms',
      ask: (client) => ask(client, 'broadcast', 12000),
      parent: false,
      right: { file: 'handlers.js', in: ["socket.on('broadcast'"] },
    },
    {
      name: 'history packed for a client',
      ask: (client) => ask(client, 'history', 25000),
      parent: false,
      right: { file: 'handlers.js', in: ["socket.on('history'"] },
    },
    {
      name: 'middleware of a socket',
      ask: (client) => ask(client, 'spam', words(9000, 3)),
      parent: false,
      right: { file: 'moderation.js', in: ['exports.isSpam'] },
    },
    {
      name: 'state written by a timer',
      ask: async (client) => {
        await client.get('/snapshot');
        await new Promise((resolve) => setTimeout(resolve, 500));
      },
      parent: false,
      right: { file: 'documents.js', in: ['function writeSnapshot'] },
    },
    {
      name: 'Express route beside it',
      ask: (client) => client.get('/top'),
      right: { file: 'server.js', in: ["app.get('/top'"] },
    },
    {
      name: 'answer that is a big object',
      ask: (client) => ask(client, 'everything'),
      parent: false,
      right: [{ packages: ['socket.io'] }, { file: 'handlers.js', in: ["socket.on('everything'"] }],
    },
  ],
};
