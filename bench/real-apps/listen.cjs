/** Preloaded by real-apps.mjs: writes every block that this package publishes to the file in REAL_APPS_BLOCKS, one a line, as JSON. */
const { appendFileSync } = require('node:fs');
const { subscribe } = require('node:diagnostics_channel');

const blocks = [];
// Written at the end: to write a file is to block.
subscribe('opentelemetry-instrumentation-event-loop:block', ({ block }) => blocks.push(block));
process.on('exit', () => {
  for (const block of blocks)
    appendFileSync(process.env.REAL_APPS_BLOCKS, `${JSON.stringify(block)}\n`);
});
