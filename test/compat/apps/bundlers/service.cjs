const { shutdown } = require('./telemetry.cjs');
const { createServer } = require('node:http');
const { listener } = require('./listener.cjs');
const { serveHttp } = require('./support/serve.cjs');

serveHttp(createServer(listener), shutdown);
