// The smallest pool there is: as many threads as CPUs, which take turns.
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';

const waiting = new Map();
const workers = Array.from({ length: availableParallelism() }, () => {
  const worker = new Worker(new URL('./worker.js', import.meta.url));
  worker.on('message', ({ id, report }) => {
    waiting.get(id)(report);
    waiting.delete(id);
  });
  return worker;
});
let id = 0;

export function render(rows) {
  id++;
  workers[id % workers.length].postMessage({ id, rows });
  return new Promise((resolve) => waiting.set(id, resolve));
}
