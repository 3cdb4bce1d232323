/**
 * All that a watched thread and its watchdog thread share: named indexes, and who writes what.
 * Times are milliseconds of the watched thread's `performance.now()`; the watchdog thread converts
 * its own. Guarantees: nothing that is read is torn, or of two writes; see shared-records.ts.
 */
import { SharedRecords, SharedText } from './shared-records.ts';

/** Index of a word: one `Int32` that means something alone. */
export const Word = {
  /** Watchdog thread: 1 while it has, or is about to open, a session to the watched thread. */
  connected: 0,
  /** 1 from when the watched thread exits or the watchdog is stopped: no session may be opened. */
  closing: 1,
  /** Watched thread: 1 while its loop idles. The watchdog thread sleeps until that changes. */
  idle: 2,
  /** Watched thread: 1 while no session may be open: see {@link SharedMemory.hold}. */
  held: 3,
  /** Watched thread: the busy period that runs, as {@link wordOf} its start; 0 without one. */
  busyPeriod: 4,
  /** Watchdog thread: a busy period that has lasted half of the threshold. */
  markedBusyPeriod: 5,
  /** Main thread: 1 while a debugger can be attached. */
  inspected: 6,
  /** Watchdog thread: 1 if a stack sample was lost, until the watched thread has logged that. */
  sampleLost: 7,
  /** Watched thread: an {@link Allowed}. */
  allowed: 8,
  /** Watchdog thread: how many stack samples were not taken because of that. */
  skipped: 9,
} as const;

/** Which stack samples the budget of the watched thread allows. */
export const Allowed = { all: 0, few: 1, none: 2 } as const;

/** Index in {@link SharedMemory.request}: what the watchdog thread asks for. */
export const Request = {
  /** The busy period that it wants a stack sample of, as in {@link Word.busyPeriod}. */
  busyPeriod: 0,
  /** When it asked; NaN until that is known. */
  requestedAt: 1,
  /** What the stack sample is for, a {@link SampleFor}. */
  purpose: 2,
  /** 1 if only a sample that shows code is wanted: one that does not was taken just before. */
  isRepeat: 3,
} as const;

export const SampleFor = {
  /** A block; the answer says only that it was taken. */
  block: 0,
  /** A block whose report as an ongoing block is near: the answer has what that needs. */
  report: 1,
} as const;

/** Index in {@link SharedMemory.progress}: the watched thread, outside of stack samples. */
export const Progress = {
  /** End of the last reported block. The code that runs now started after it. */
  reportedUntil: 0,
  /** The latest upkeep of the lag timer, and the loop's idle time by then. */
  beatAt: 1,
  idleTime: 2,
  /** When it woke the watchdog thread last, and when that would have run instead. */
  wokenAt: 3,
  wokenBefore: 4,
  /** How long it had run, and its run delay, on the latest beat; 0 if that is not known. */
  ran: 5,
  runDelay: 6,
} as const;

/** Index in {@link SharedMemory.sleep}: the watchdog thread's sleep. */
export const Sleeping = {
  /** When the watchdog thread runs next; if a suspension was noted since, when it ran last. */
  wakeUp: 0,
  /** How many suspensions it has noted. */
  suspensions: 1,
  /** Sum of the time for which the process was stopped. */
  stopped: 2,
  /** 1 if the watched thread may wake it up before: it sleeps until something runs. */
  untilWoken: 3,
  /** Sum of the run delay of all other threads when the latest busy period was marked. */
  othersDelay: 4,
  /** Watchdog thread of the main thread: how long it had run when it went to sleep. */
  ran: 5,
} as const;

/** Index in a record of {@link SharedMemory.suspensions}. */
export const Suspended = { from: 0, until: 1, stopped: 2 } as const;

/** Suspensions remembered: a block asks for those inside it right after it ended. */
export const MAX_SUSPENSIONS = 32;

/** Index in the words that the main thread shares with all worker threads that are watched. */
export const ProcessWord = {
  /** How many sessions to the main thread are open, or about to be. */
  openSessions: 0,
  /** 1 from when the main thread exits: no session may be opened. */
  closing: 1,
  /** 1 while the watchdog thread of the workers exists. */
  running: 2,
  /** Changes each time a thread wakes that watchdog thread up. */
  wakeUps: 3,
} as const;

/** A word keeps 1/16 ms, and repeats itself after 3 days. */
const PARTS_OF_MILLI = 16;

/** A time as a word that is not 0. 2 ns. */
export const wordOf = (millis: number) => Math.trunc(millis * PARTS_OF_MILLI) | 0 || 1;

/** The time at most a day and a half before or after `now`. */
export function timeOf(word: number, now: number): number {
  const parts = Math.trunc(now * PARTS_OF_MILLI);
  return (parts - ((parts - word) | 0)) / PARTS_OF_MILLI;
}

const count = (names: object) => Object.keys(names).length;
const WORD_BYTES = Int32Array.BYTES_PER_ELEMENT;
const RECORDS = [
  [count(Request), 1],
  [1, 1],
  [count(Progress), 1],
  [count(Sleeping), 1],
  [count(Suspended), MAX_SUSPENSIONS],
] as const;

const BYTES_BEFORE_TEXT = RECORDS.reduce(
  (bytes, [numbers, records]) => bytes + WORD_BYTES * SharedRecords.wordsOf(numbers, records),
  WORD_BYTES * count(Word),
);

/** The memory as one thread sees it; each thread makes its own from the same buffer. */
export class SharedMemory {
  readonly words: Int32Array;
  readonly request: SharedRecords;
  /** Watched thread, inside a stack sample: when it answered the latest request. */
  readonly answeredAt: SharedRecords;
  readonly progress: SharedRecords;
  readonly sleep: SharedRecords;
  /** A ring. */
  readonly suspensions: SharedRecords;
  /** Watched thread: what is known of a native call that is known to be long, as JSON. */
  readonly longCall: SharedText;
  #busyPeriod = 0;

  constructor(readonly buffer = new SharedArrayBuffer(BYTES_BEFORE_TEXT + SharedText.BYTES)) {
    this.words = new Int32Array(buffer, 0, count(Word));
    let offset = this.words.byteLength;
    const [request, answeredAt, progress, sleep, suspensions] = RECORDS.map(
      ([numbers, records]) => {
        const length = SharedRecords.wordsOf(numbers, records);
        const words = new Int32Array(buffer, offset, length);
        offset += words.byteLength;
        return new SharedRecords(words, numbers);
      },
    ) as [SharedRecords, SharedRecords, SharedRecords, SharedRecords, SharedRecords];
    this.request = request;
    this.answeredAt = answeredAt;
    this.progress = progress;
    this.sleep = sleep;
    this.suspensions = suspensions;
    this.longCall = new SharedText(buffer, BYTES_BEFORE_TEXT);
    // A watchdog thread that is started again writes on from what the one before has written.
    this.sleep.read();
  }

  /** Hot, once per iteration of the loop: one store, 10 to 35 ns (a plain one: 1). */
  openBusyPeriod(start: number): void {
    this.#busyPeriod = wordOf(start);
    Atomics.store(this.words, Word.busyPeriod, this.#busyPeriod);
  }

  /** From now on there is nothing to watch. */
  closeBusyPeriod(): void {
    Atomics.store(this.words, Word.busyPeriod, 0);
  }

  /** Hot: one load, 10 ns. Whether the watchdog thread has found the latest busy period old. */
  isMarked(): boolean {
    return Atomics.load(this.words, Word.markedBusyPeriod) === this.#busyPeriod;
  }

  isSet(word: number): boolean {
    return Atomics.load(this.words, word) === 1;
  }
}
