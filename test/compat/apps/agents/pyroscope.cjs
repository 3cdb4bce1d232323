/** Pyroscope's profiler, of wall and CPU time and of the heap. */
const Pyroscope = require('@pyroscope/nodejs');

Pyroscope.init({
  serverAddress: process.env.PYROSCOPE_SERVER_ADDRESS,
  appName: 'compat',
  flushIntervalMs: 2000,
  wall: { collectCpuTime: true },
});
Pyroscope.start();
const { serveThirtyBlocks } = require('./support/thirty-blocks.cjs');

serveThirtyBlocks({ flush: () => Pyroscope.stop() });
