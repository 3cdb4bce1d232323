/**
 * A thread that does nothing but wake up, and notes when it was late: then the machine as a whole
 * was busy or suspended, or its CPUs were taken away from outside, which no thread's run delay
 * shows, and which a virtual machine counts in `/proc/stat`. It runs in the process of the tests:
 * in an app it would be one of the things that the app is about (wake-ups, threads, the end of the
 * process).
 */
import { once } from 'node:events';
import path from 'node:path';
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

/** What a witness has seen. */
export interface Seen {
  stalls: Stall[];
  stolen: Stolen[];
  delays: WatchedDelay[];
  /** When the process that it watched had ended: not if this is not Linux, or not yet. */
  endedAt: number | undefined;
}

export interface Witness {
  /** From now on, reads how long the threads of this process are kept waiting, and if it ended. */
  watch(pid: number): void;
  /** How long the first thread of that process has been kept waiting for a CPU by now. */
  delayMillis(): number;
  stop(): Promise<Seen>;
}

const EVERY_MILLIS = 5;
/** What timer and scheduler may take on a machine that is not busy. */
const PUNCTUAL_MILLIS = 2;
/** Of what it notes, of each kind. */
const MAX_NOTES = 4096;
/** How often it reads what was taken away from machine and app. */
const READ_EVERY_MILLIS = 50;
/** At most how long that takes on a machine that is not busy: 3 ms have been seen. */
const READING_MILLIS = 10;
/** What the kernel counts in `/proc/stat`. */
const JIFFY_MILLIS = 10;

/** Index in the words that it shares with its thread. */
const Word = { isOn: 0, pid: 1, delayMillis: 2 } as const;

const CODE = `
  const fs = require('node:fs');
  const { parentPort, workerData } = require('node:worker_threads');
  const { words, everyMillis, punctualMillis, maxNotes, Word } = workerData;
  const { unixTime: now } = require(workerData.unixTime);

  let seen;
  const note = (list, line) => {
    if (list.length < maxNotes) list.push(line);
  };

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
  let last;
  const readStolen = () => {
    const jiffies = stolenJiffies();
    const at = now();
    const millis = (jiffies - last.jiffies) * workerData.jiffyMillis;
    if (millis > 0) note(seen.stolen, { fromMillis: last.at, toMillis: at, millis });
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
    const pid = Atomics.load(words, Word.pid);
    if (pid === 0) return;
    try {
      const [, first] = schedstatIn('/proc/' + pid);
      for (const id of fs.readdirSync('/proc/' + pid + '/task')) {
        try {
          readThread(id, '/proc/' + pid + '/task/' + id, now());
        } catch {} // it has just ended
      }
      let threadsMillis = 0;
      for (const { waited, pending, uninterruptible } of threads.values())
        threadsMillis += Number(waited) / 1e6 + pending + uninterruptible;
      const delayMillis = Number(first) / 1e6;
      note(seen.delays, { atMillis: now(), delayMillis, threadsMillis });
      Atomics.store(words, Word.delayMillis, delayMillis);
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
    const pid = Atomics.load(words, Word.pid);
    if (pid !== 0 && isEnded('/proc/' + pid)) seen.endedAt ??= now();
  };

  const noteStall = (from, to) => {
    if (to - from >= punctualMillis) note(seen.stalls, { fromMillis: from, toMillis: to });
  };
  const watch = () => {
    seen = { stalls: [], stolen: [], delays: [], endedAt: undefined };
    last = { at: now(), jiffies: stolenJiffies() };
    threads.clear();
    wasSeen = false;
    parentPort.postMessage('watches');
    let since = now();
    while (Atomics.load(words, Word.isOn) === 1) {
      Atomics.wait(words, Word.isOn, 1, everyMillis);
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
    parentPort.postMessage(seen);
  };
  for (;;) {
    Atomics.wait(words, Word.isOn, 0);
    watch();
  }
`;

/** Is one witness after the other: to start a thread takes half as long as to start a process. */
class WitnessThread {
  readonly #words = new Int32Array(new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT));
  readonly #worker = new Worker(CODE, {
    eval: true,
    workerData: {
      words: this.#words,
      Word,
      unixTime: path.join(__dirname, '../../support/unix-time.cjs'),
      everyMillis: EVERY_MILLIS,
      punctualMillis: PUNCTUAL_MILLIS,
      maxNotes: MAX_NOTES,
      readEveryMillis: READ_EVERY_MILLIS,
      readingMillis: READING_MILLIS,
      jiffyMillis: JIFFY_MILLIS,
    },
  });

  async start(): Promise<void> {
    this.#words.fill(0);
    await this.#switch(1);
  }

  stop(): Promise<Seen> {
    return this.#switch(0) as Promise<Seen>;
  }

  terminate(): Promise<number> {
    return this.#worker.terminate();
  }

  watch(pid: number): void {
    Atomics.store(this.#words, Word.pid, pid);
  }

  delayMillis(): number {
    return Atomics.load(this.#words, Word.delayMillis);
  }

  /** Resolves with what the thread has answered. */
  async #switch(isOn: 0 | 1): Promise<unknown> {
    const answered = once(this.#worker, 'message');
    Atomics.store(this.#words, Word.isOn, isOn);
    Atomics.notify(this.#words, Word.isOn);
    const [answer] = await answered;
    return answer;
  }
}

/** Those of this file of tests that nobody uses now. */
const idle: WitnessThread[] = [];
afterAll(() => Promise.all(idle.map((thread) => thread.terminate())));

export async function startWitness(): Promise<Witness> {
  const thread = idle.pop() ?? new WitnessThread();
  await thread.start();
  const stop = async () => {
    const seen = await thread.stop();
    idle.push(thread);
    return seen;
  };
  let stopped: Promise<Seen> | undefined;
  return {
    watch: (pid) => thread.watch(pid),
    delayMillis: () => thread.delayMillis(),
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}
