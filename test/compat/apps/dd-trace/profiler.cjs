/** `dd-trace` by itself, with its profiler. It sends what is left when the process ends. */
require('dd-trace').init({ profiling: true });
const { serveThirtyBlocks } = require('./support/thirty-blocks.cjs');

serveThirtyBlocks();
