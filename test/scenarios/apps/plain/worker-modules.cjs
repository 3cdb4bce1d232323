// A worker thread prints the files that were loaded in it before its own.
const { isMainThread, Worker } = require('node:worker_threads');

if (isMainThread) new Worker(__filename);
else
  console.log(
    Object.keys(require.cache)
      .filter((file) => file !== __filename)
      .join('\n'),
  );
