/**
 * A thread that does nothing but wake up, and notes when it was late: then the machine as a whole
 * was busy or suspended, or its CPUs were taken away from outside, which no thread's run delay
 * shows, and which a virtual machine counts in `/proc/stat`. It runs in the process of the tests:
 * in an app it would be one of the things that the app is about (wake-ups, threads, the end of the
 * process).
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** From when the witness was to wake up until it did; since the epoch. */
export interface Stall {
  fromMillis: number;
  toMillis: number;
}

/** Between two moments, CPUs of a virtual machine were taken away from it for so long. */
export interface Stolen extends Stall {
  millis: number;
}

/** How long, by then, the app had been kept waiting. */
export interface WatchedDelay {
  atMillis: number;
  /** Its first thread, for a CPU. */
  delayMillis: number;
  /** All of its threads together, for a CPU, a disk, or a lock of the kernel. */
  threadsMillis: number;
}

export interface Witness {
  /** From now on, reads how long the threads of this process are kept waiting, and if it ended. */
  watch(pid: number): void;
  /** When it saw that the process had ended: not if this is not Linux, or not yet. */
  ended(): number | undefined;
  delays(): WatchedDelay[];
  stalls(): Stall[];
  stolen(): Stolen[];
  /**
   * Resolves when it has ended. What is read before that may lack the latest: it may be waiting for
   * a CPU.
   */
  stop(): Promise<void>;
}

const EVERY_MILLIS = 5;
/** What timer and scheduler may take on a machine that is not busy. */
const PUNCTUAL_MILLIS = 2;
const MAX_STALLS = 4096;
/** How often it reads what was taken away from machine and app. */
const READ_EVERY_MILLIS = 50;
/** At most how long that takes on a machine that is not busy: 3 ms have been seen. */
const READING_MILLIS = 10;
/** What the kernel counts in `/proc/stat`. */
const JIFFY_MILLIS = 10;

const CODE = `
  const fs = require('node:fs');
  const { parentPort, workerData } = require('node:worker_threads');
  const { times, sleep, thefts, delays, end, everyMillis, punctualMillis, maxStalls } = workerData;
  const now = () => performance.timeOrigin + performance.now();

  const stat = (() => {
    try {
      return fs.openSync('/proc/stat', 'r');
    } catch {} // not Linux
  })();
  const buffer = Buffer.alloc(256);
  const stolenJiffies = () => {
    if (stat === undefined) return 0;
    const text = buffer.latin1Slice(0, fs.readSync(stat, buffer, 0, buffer.length, 0));
    return Number(text.split('\\n', 1)[0].trim().split(/ +/)[8] ?? 0);
  };
  let last = { at: now(), jiffies: stolenJiffies() };
  const readStolen = () => {
    const jiffies = stolenJiffies();
    const at = now();
    const count = Atomics.load(sleep, 2);
    if (jiffies > last.jiffies && count < maxStalls) {
      thefts.set([last.at, at, (jiffies - last.jiffies) * workerData.jiffyMillis], 3 * count);
      Atomics.store(sleep, 2, count + 1);
    }
    last = { at, jiffies };
  };

  const schedstatIn = (folder) => fs.readFileSync(folder + '/schedstat', 'latin1').split(' ');
  const stateIn = (folder) => fs.readFileSync(folder + '/stat', 'latin1').split(/.*\\) /s)[1][0];
  // The kernel counts a wait for a CPU when it is over. A thread that ends as soon as it has one is
  // gone by then: it has waited at least between two readings. Waits that nothing interrupts, for a
  // disk or a lock of the kernel, it does not count at all: a process that ended was in munmap()
  // for 790 ms, waiting for the lock of a file that all processes of Node.js map.
  const threads = new Map(); // of those that have ended, too
  const readThread = (id, folder, at) => {
    const [ran, waited] = schedstatIn(folder);
    const before = threads.get(id);
    const state = stateIn(folder);
    const waitsOn = state === before?.state && before.ran === ran && before.waited === waited;
    const passed = waitsOn ? at - before.at : 0;
    const pending = waitsOn && state === 'R' ? before.pending + passed : 0;
    const uninterruptible = (before?.uninterruptible ?? 0) + (state === 'D' ? passed : 0);
    threads.set(id, { at, ran, waited, state, pending, uninterruptible });
  };
  const readDelay = () => {
    const pid = Atomics.load(sleep, 3);
    const count = Atomics.load(sleep, 4);
    if (pid === 0 || count === maxStalls) return;
    try {
      const [, first] = schedstatIn('/proc/' + pid);
      for (const id of fs.readdirSync('/proc/' + pid + '/task')) {
        try {
          readThread(id, '/proc/' + pid + '/task/' + id, now());
        } catch {} // it has just ended
      }
      let all = 0;
      for (const { waited, pending, uninterruptible } of threads.values())
        all += Number(waited) / 1e6 + pending + uninterruptible;
      delays.set([now(), Number(first) / 1e6, all], 3 * count);
      Atomics.store(sleep, 4, count + 1);
    } catch {} // it has ended, or this is not Linux
  };

  // A process that has ended has its first thread only, a zombie until its parent reaps it. Node.js
  // does that, and may then have no CPU for 400 ms before it calls the listener of 'exit'.
  let wasSeen = false;
  const isEnded = (folder) => {
    try {
      const state = stateIn(folder);
      wasSeen = true;
      return state === 'Z' && fs.readdirSync(folder + '/task').length === 1;
    } catch {
      return wasSeen; // it has been reaped, or this is not Linux
    }
  };
  const readEnd = () => {
    const pid = Atomics.load(sleep, 3);
    if (pid === 0 || end[0] > 0) return;
    if (isEnded('/proc/' + pid)) end[0] = now();
  };

  parentPort.postMessage('ready');
  const noteStall = (from, to) => {
    const count = Atomics.load(sleep, 1);
    if (to - from < punctualMillis || count === maxStalls) return;
    times.set([from, to], 2 * count);
    Atomics.store(sleep, 1, count + 1);
  };
  let since = now();
  while (Atomics.load(sleep, 0) === 0) {
    Atomics.wait(sleep, 0, 0, everyMillis);
    const at = now();
    noteStall(since + everyMillis, at);
    since = at;
    if (at - last.at < workerData.readEveryMillis) continue;
    readStolen();
    readDelay();
    readEnd();
    since = now();
    // It may be kept waiting in here as well.
    if (since - at > workerData.readingMillis) noteStall(at, since);
  }
`;

const sharedNumbers = (length: number) =>
  new Float64Array(new SharedArrayBuffer(length * Float64Array.BYTES_PER_ELEMENT));

export async function startWitness(): Promise<Witness> {
  const times = sharedNumbers(2 * MAX_STALLS);
  const thefts = sharedNumbers(3 * MAX_STALLS);
  const delays = sharedNumbers(3 * MAX_STALLS);
  const end = sharedNumbers(1);
  /** Set to end it; the number of stalls; of thefts; the process; the number of its delays. */
  const sleep = new Int32Array(new SharedArrayBuffer(5 * Int32Array.BYTES_PER_ELEMENT));
  const worker = new Worker(CODE, {
    eval: true,
    workerData: {
      times,
      thefts,
      delays,
      end,
      sleep,
      everyMillis: EVERY_MILLIS,
      punctualMillis: PUNCTUAL_MILLIS,
      maxStalls: MAX_STALLS,
      readEveryMillis: READ_EVERY_MILLIS,
      readingMillis: READING_MILLIS,
      jiffyMillis: JIFFY_MILLIS,
    },
  });
  await once(worker, 'message');
  const stopped = once(worker, 'exit');
  return {
    watch: (pid) => void Atomics.store(sleep, 3, pid),
    ended: () => (end[0] === 0 ? undefined : end[0]),
    delays: () =>
      Array.from({ length: Atomics.load(sleep, 4) }, (_, i) => ({
        atMillis: Number(delays[3 * i]),
        delayMillis: Number(delays[3 * i + 1]),
        threadsMillis: Number(delays[3 * i + 2]),
      })),
    stalls: () =>
      Array.from({ length: Atomics.load(sleep, 1) }, (_, i) => ({
        fromMillis: Number(times[2 * i]),
        toMillis: Number(times[2 * i + 1]),
      })),
    stolen: () =>
      Array.from({ length: Atomics.load(sleep, 2) }, (_, i) => ({
        fromMillis: Number(thefts[3 * i]),
        toMillis: Number(thefts[3 * i + 1]),
        millis: Number(thefts[3 * i + 2]),
      })),
    async stop() {
      Atomics.store(sleep, 0, 1);
      Atomics.notify(sleep, 0);
      await stopped;
    },
  };
}
