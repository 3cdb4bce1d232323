/** What a watched thread and its watchdog thread do at the same time, in all orders. */
import { CaptureSession, TO_MAIN_THREAD } from '../../src/core/sample/capture-session.ts';
import { limitedRuns, type RunLimited } from '../../src/core/sample/limited-runs.ts';
import { SharedMemory, Word } from '../../src/core/sample/shared-memory.ts';
import { SharedRecords } from '../../src/core/sample/shared-records.ts';
import { suspendedWithin, wakeUpIn } from '../../src/core/sample/suspensions.ts';
import { ThreadSleep } from '../../src/core/sample/thread-sleep.ts';
import { Watchdog, type WatchdogEvents } from '../../src/core/sample/watchdog.ts';
import type { ThreadEvents } from '../../src/core/sample/watchdog-thread.ts';
import { Explorer } from './support/interleavings.ts';

test.each([
  [1, 3],
  [2, 2],
])('a record is that of one write: %i numbers, written %i times', (numbers, writes) => {
  const memory = new Int32Array(SharedRecords.wordsOf(numbers));
  const read: number[][] = [];
  const explorer: Explorer<object> = new Explorer({
    memory,
    world: {},
    threads: {
      writer() {
        const record = new SharedRecords(memory, numbers);
        for (let write = 1; write <= writes; write++) {
          record.values.fill(write + 0.1);
          record.publish();
        }
      },
      reader: () => read.push([...new SharedRecords(memory, numbers).read()]),
    },
    mayEnd: ['writer'],
  });
  expect(explorer.explore()).toBeGreaterThan(100);
  expect(new Set(read.map(String))).toEqual(
    new Set(
      [0, 1.1, 2.1, 3.1].slice(0, writes + 1).map((value) => `${Array(numbers).fill(value)}`),
    ),
  );
});

/** The watched thread's side, as the process sees it. */
class WatchedThread {
  /** What the process calls when it exits. */
  readonly exit: () => void;
  threadEvents: ThreadEvents | undefined;
  readonly watchdog: Watchdog;
  readonly runLimited: RunLimited;
  readonly capture = jest.fn();

  constructor() {
    const { capture } = this;
    const events = { watching() {}, lost() {}, capture } as unknown as WatchdogEvents;
    const setEvents = (given: ThreadEvents) => {
      this.threadEvents = given;
    };
    class Thread {
      readonly isWatching = true;
      constructor(given: ThreadEvents) {
        setEvents(given);
      }
      keepUp() {}
      wake() {}
      terminate() {}
    }
    const options = { unfinishedAfterMillis: 0 } as never;
    this.watchdog = new Watchdog(
      options,
      events,
      { log() {}, faults: {} } as never,
      Thread,
      new SharedMemory(),
    );
    const before = process.listeners('exit');
    const startRuns = jest.spyOn(limitedRuns, 'start');
    this.watchdog.start();
    this.runLimited = startRuns.mock.lastCall?.[0] as RunLimited;
    const added = process.listeners('exit').filter((listener) => !before.includes(listener));
    this.exit = added[0] as () => void;
  }
}

/** Words and numbers, without the text. */
const wordsOf = ({ buffer, longCall: _ }: SharedMemory) => new Int32Array(buffer, 0, 500);

interface Sessions {
  open: number;
  hasExited: boolean;
}

function sessionsModel(
  world: Sessions,
  memory: SharedMemory,
  explorer: () => Pick<Explorer<Sessions>, 'step'>,
) {
  class Session {
    connectToMainThread() {
      explorer().step(() => {
        if (world.hasExited) throw new Error('a session is opened after the exit');
        world.open++;
      });
    }
    removeAllListeners() {}
    disconnect() {
      explorer().step(() => world.open--);
    }
  }
  return (times: number) => {
    for (let i = 0; i < times; i++) {
      const session = new CaptureSession({ Session } as never, memory.words, TO_MAIN_THREAD);
      session.open();
      session.close();
    }
  };
}

let watched: WatchedThread;
beforeEach(() => {
  watched = new WatchedThread();
});
afterEach(() => watched.watchdog.stop());

test('a thread exits with no session open, and none is opened afterwards', () => {
  const { memory } = watched.watchdog;
  const world: Sessions = { open: 0, hasExited: false };
  const takeSamples = sessionsModel(world, memory, () => explorer);
  const explorer: Explorer<Sessions> = new Explorer({
    memory: wordsOf(memory),
    world,
    threads: {
      watchdog: () => takeSamples(2),
      watched() {
        watched.exit();
        explorer.step(() => {
          world.hasExited = true;
          if (world.open > 0) throw new Error('a session is open at the exit');
        });
      },
    },
  });
  expect(explorer.explore()).toBeGreaterThan(50);
  expect(explorer.timeOuts).toBe(0);
});

test.each([true, false])(
  'a watchdog thread is ended half-way; started again: %s; the exit waits for nobody',
  (isRestarted) => {
    const { memory } = watched.watchdog;
    const world = { open: 0, hasExited: false, isReset: false };
    const takeSamples = sessionsModel(world, memory, () => explorer);
    let restarts = 0;
    const explorer: Explorer<typeof world> = new Explorer({
      memory: wordsOf(memory),
      world,
      threads: {
        watchdog() {
          Atomics.store(memory.words, Word.markedBusyPeriod, 7);
          takeSamples(1);
        },
        watched() {
          // Node.js has closed its session.
          const closeSession = () => {
            world.open = 0;
          };
          explorer.step(closeSession, () => explorer.hasEnded('watchdog'));
          watched.threadEvents?.ended();
          explorer.step(() => {
            world.isReset = true;
            expect(wakeUpIn(memory)).toBe(0);
            expect(memory.words[Word.markedBusyPeriod]).toBe(0);
          });
          watched.exit();
          explorer.step(() => {
            world.hasExited = true;
            expect(world.open).toBe(0);
          });
        },
        restarted() {
          if (!isRestarted) return;
          explorer.step(
            () => restarts++,
            () => world.isReset,
          );
          takeSamples(1);
        },
      },
      mayEnd: ['watchdog'],
    });
    explorer.explore();
    expect(restarts > 0).toBe(isRestarted);
    expect(explorer.timeOuts).toBe(0);
  },
);

test('something that runs wakes the watchdog thread, which takes nothing for a suspension', () => {
  const { memory } = watched.watchdog;
  const world = { time: 1000 };
  const explorer: Explorer<typeof world> = new Explorer({
    memory: wordsOf(memory),
    world,
    threads: {
      watchdog() {
        const own = new SharedMemory(memory.buffer);
        const schedstat = { start() {}, read: () => false } as never;
        const sleep = new ThreadSleep(own, () => explorer.step(() => world.time), schedstat);
        if (own.isSet(Word.idle)) sleep.sleepWhileIdle();
      },
      watched() {
        watched.watchdog.idle();
        explorer.step(() => {
          world.time += 5;
        });
        watched.watchdog.wakeUp(explorer.step(() => world.time));
      },
    },
    check: () => expect(suspendedWithin(memory, 0, world.time)).toBe(0),
  });
  expect(explorer.explore()).toBeGreaterThan(200);
  expect(explorer.timeOuts).toBe(0);
});

test('no session is open in code that V8 may end', () => {
  const { memory } = watched.watchdog;
  const { words } = memory;
  const world = { open: 0, isInRun: false, hasExited: false };
  const takeSamples = sessionsModel(world, memory, () => explorer);
  const explorer: Explorer<typeof world> = new Explorer({
    memory: wordsOf(memory),
    world,
    threads: {
      watchdog: () => takeSamples(2),
      watched() {
        watched.runLimited(() =>
          explorer.step(() => {
            if (world.open > 0) throw new Error('a session is open in the run');
            // As V8 leaves it behind if it ends a run inside of this one.
            words[Word.held] = 1;
          }),
        );
        expect(memory.isSet(Word.held)).toBe(false);
      },
    },
  });
  expect(explorer.explore()).toBeGreaterThan(50);
  expect(explorer.timeOuts).toBe(0);
});
