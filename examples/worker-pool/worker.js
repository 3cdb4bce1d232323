import { parentPort } from 'node:worker_threads';
import { renderReport } from './report.js';

parentPort.on('message', ({ id, rows }) => {
  parentPort.postMessage({ id, report: renderReport(rows) });
});
