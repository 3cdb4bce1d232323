// Stack samples are taken in running code. Nothing may run in the middle of it because of them: no
// microtask, tick, timer, immediate, message.
const { EventEmitter } = require('node:events');
const { MessageChannel } = require('node:worker_threads');
const { running } = require('../../support/thread-times.cjs');
const { alone, main, note, startInstrumented, wait } = require('./support/telemetry.cjs');

const { sdk } = startInstrumented({ thresholdMillis: 20 });

const BLOCKS = 14;
const BLOCK_MILLIS = 120;

let intruders = 0;
let inTheMiddle = false;
const intrude = () => {
  if (inTheMiddle) intruders++;
};

/** Everything that could want to run, all of it due, and then a block. */
function block() {
  const { port1, port2 } = new MessageChannel();
  port2.on('message', intrude).unref();
  port1.postMessage('now');
  inTheMiddle = true;
  process.nextTick(intrude);
  queueMicrotask(intrude);
  Promise.resolve().then(intrude);
  setImmediate(intrude);
  setTimeout(intrude, 0);
  new EventEmitter().once('never', intrude);
  const goesOn = running(BLOCK_MILLIS);
  let n = 0;
  while (goesOn()) n += [...'text'].sort((a, b) => (a < b ? -1 : 1)).length;
  inTheMiddle = false;
  port1.close();
  return n;
}

main(sdk, async () => {
  await wait(200);
  for (let i = 0; i < BLOCKS; i++) await alone(block);
  note('intruders', intruders);
});
