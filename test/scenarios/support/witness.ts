/**
 * A thread that does nothing but wake up, and notes when it was late: then the machine as a whole was
 * busy or suspended, or its CPUs were taken away from outside, which no thread's run delay shows. It
 * runs in the process of the tests: in an app it would be one of the things that the app is about
 * (wake-ups, threads, the end of the process).
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** From when the witness was to wake up until it did; since the epoch. */
export interface Stall {
  fromMillis: number;
  toMillis: number;
}

export interface Witness {
  stalls(): Stall[];
  stop(): void;
}

const EVERY_MILLIS = 5;
/** What timer and scheduler may take on a machine that is not busy. */
const PUNCTUAL_MILLIS = 2;
const MAX_STALLS = 4096;

const CODE = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { times, sleep, everyMillis, punctualMillis, maxStalls } = workerData;
  const now = () => performance.timeOrigin + performance.now();
  parentPort.postMessage('ready');
  for (let count = 0; Atomics.load(sleep, 0) === 0; ) {
    const due = now() + everyMillis;
    Atomics.wait(sleep, 0, 0, everyMillis);
    const late = now() - due;
    if (late < punctualMillis || count === maxStalls) continue;
    times[2 * count] = due;
    times[2 * count + 1] = due + late;
    Atomics.store(sleep, 1, ++count);
  }
`;

export async function startWitness(): Promise<Witness> {
  const times = new Float64Array(
    new SharedArrayBuffer(2 * MAX_STALLS * Float64Array.BYTES_PER_ELEMENT),
  );
  const sleep = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  const worker = new Worker(CODE, {
    eval: true,
    workerData: {
      times,
      sleep,
      everyMillis: EVERY_MILLIS,
      punctualMillis: PUNCTUAL_MILLIS,
      maxStalls: MAX_STALLS,
    },
  });
  await once(worker, 'message');
  return {
    stalls: () =>
      Array.from({ length: Atomics.load(sleep, 1) }, (_, i) => ({
        fromMillis: Number(times[2 * i]),
        toMillis: Number(times[2 * i + 1]),
      })),
    stop() {
      Atomics.store(sleep, 0, 1);
      Atomics.notify(sleep, 0);
    },
  };
}
