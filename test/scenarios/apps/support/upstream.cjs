// A worker thread that the app under test talks to: an HTTP server, a WebSocket server and a
// message port, none of them on its loop.
const http = require('node:http');
const { parentPort } = require('node:worker_threads');
const { WebSocketServer } = require('ws');

/** So late that whoever asked waits: what asking took is over in another iteration of its loop. */
const ANSWER_MILLIS = 20;
const server = http.createServer((_request, response) => {
  setTimeout(() => response.end('answer'), ANSWER_MILLIS);
});
new WebSocketServer({ server }).on('connection', (socket) => {
  socket.on('message', (message) => socket.send(String(message)));
});
parentPort.on('message', (message) => parentPort.postMessage(message));
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
