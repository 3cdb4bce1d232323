// What Lambda does: loads the handler, and calls it for each event.
import { setTimeout as pause } from 'node:timers/promises';

const { handler } = await import('./handler.js');
for (let event = 0; event < 3; event++) {
  await pause(500);
  await handler({ rows: 200_000 }); // it may freeze after each: nothing is left to send
}
process.exit();
