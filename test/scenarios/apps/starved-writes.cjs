// Large responses are flushed piece by piece over a Unix socket, while other requests work for 10
// ms each.
const { createServer } = require('node:http');
const { Readable } = require('node:stream');
const { block, serve, startInstrumented } = require('./support/telemetry.cjs');

const { sdk } = startInstrumented({ thresholdMillis: 10 }, { stalls: true });
const express = require('express');

const PIECE = Buffer.alloc(8 * 1024, 'x');
const PIECES = (27 * 1024 * 1024) / PIECE.length;
const WORK_MILLIS = 10.5; // as long as the threshold, and a little more

const app = express();
app.get('/large', (_request, response) => {
  Readable.from(
    (function* pieces() {
      for (let i = 0; i < PIECES; i++) yield PIECE;
    })(),
    { objectMode: false },
  ).pipe(response);
});
let works = 0;
app.get('/work', (_request, response) => {
  block(`work ${++works}`, WORK_MILLIS);
  response.send('done');
});

serve(createServer(app), sdk, process.argv[2]);
