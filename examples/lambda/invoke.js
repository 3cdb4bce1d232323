// What Lambda does: loads the handler, and calls it.
import { setTimeout as pause } from 'node:timers/promises';

const { handler } = await import('./handler.js');
await pause(500); // the first event comes later than the cold start
const { statusCode } = await handler({ rows: 200_000 });
process.exit(statusCode === 200 ? 0 : 1); // it may freeze here: nothing is left to send
