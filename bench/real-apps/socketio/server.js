const { createServer } = require('node:http');
const express = require('express');
const { Server } = require('socket.io');
const documents = require('./documents');
const { onConnection } = require('./handlers');

const app = express();
const server = createServer(app);
const io = new Server(server, { maxHttpBufferSize: 1e8 });

app.get('/health', (request, response) => response.send('ok'));
app.get('/snapshot', (request, response) => {
  documents.snapshotLater();
  response.json({ queued: true });
});
app.get('/top', (request, response) => {
  const counts = {};
  for (const { author, text } of documents.messages) {
    for (const word of text.toLowerCase().split(/\W+/)) {
      const key = `${author}:${word}`;
      counts[key] = (counts[key] ?? 0) + 1;
    }
  }
  response.json(
    Object.entries(counts)
      .sort((a, b) => b[1] - a[1])
      .slice(0, 10),
  );
});
io.on('connection', onConnection(io));
server.listen(process.env.PORT, '127.0.0.1', () => console.log('listening'));
process.on('SIGTERM', () => io.close(() => console.log('closed')));
