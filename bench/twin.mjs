// Promises: a process like the measured one in which nothing is ever switched on; it measures when it is told to.
// Started by measure.mjs. A shared machine may run half as fast a minute later, so "the same as before?" can only be
// asked relative to somebody who lives through the same minutes.
import { period, prepareProcess } from './period.mjs';

await prepareProcess();
process.on('message', async (settleMillis) => process.send(await period(Number(settleMillis))));
process.on('disconnect', () => process.exit());
process.send('ready');
