// The process that `bench/payload.mjs` weighs: has as many functions as its argument says hold the loop, each alone (`callback`), in a
// promise reaction (`microtasks`) and in thirds (`pile-up`). Where its telemetry goes is up to the usual OTEL_* variables.
import { setTimeout as sleep } from 'node:timers/promises';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { EventLoopInstrumentation } from '../dist/index.mjs';

const BLOCK_MILLIS = 60;
const PILE = 3;
const functions = Number(process.argv[2]);

const sdk = new NodeSDK({ instrumentations: [new EventLoopInstrumentation({ thresholdMillis: 20 })] });
sdk.start();
await sleep(200); // the watchdog is up

for (let i = 0; i < functions; i++) {
  const name = `handleRequestOfKind${i}`;
  const { [name]: hold } = {
    [name](millis) {
      const end = performance.now() + millis;
      while (performance.now() < end);
    },
  };
  setTimeout(() => hold(BLOCK_MILLIS), 5);
  await sleep(15);
  await Promise.resolve().then(() => hold(BLOCK_MILLIS));
  await sleep(5);
  for (let part = 0; part < PILE; part++) setImmediate(() => hold((BLOCK_MILLIS / PILE) * 0.8));
  await sleep(5);
}
await sleep(100);
await sdk.shutdown();
