/** The watchdog thread that several threads share sleeps until the first of them is due. */
import { SharedMemory, Sleeping, Suspended, Word } from '../../src/core/sample/shared-memory.ts';
import { noteWakeUp } from '../../src/core/sample/suspensions.ts';
import {
  SharedSleep,
  SleepOfThread,
  type Waiting,
} from '../../src/threads/workers/shared-sleep.ts';

/** Sleeps on a fake clock. One ends after `millis`, or at what is planned to end it. */
class FakeSleep implements Waiting {
  time = 0;
  readonly slept: { from: number; millis: number; inLoop: boolean }[] = [];
  /** What happens at a time: it ends the sleep. */
  plan: { at: number; action: () => void }[] = [];
  /** The thread has no CPU for this long when a sleep ends. */
  oversleepMillis = 0;
  /** Nothing further is scheduled after it. */
  isOver = () => this.time > 1000;
  #soon: (() => void)[] = [];

  now(): number {
    return this.time;
  }

  wait(_words: Int32Array, _wakeUps: number, millis: number): void {
    this.slept.push({ from: this.time, millis, inLoop: false });
    const until = this.time + millis;
    const [next] = this.plan;
    if (next !== undefined && next.at <= until) {
      this.plan.shift();
      this.time = Math.max(this.time, next.at) + this.oversleepMillis;
      next.action();
    } else {
      this.time = until + this.oversleepMillis;
    }
  }

  waitInLoop(millis: number, done: () => void): void {
    this.slept.push({ from: this.time, millis, inLoop: true });
    this.time += millis;
    this.soon(done);
  }

  soon(action: () => void): void {
    this.#soon.push(action);
  }

  /** Until nothing is left to do, or it is over. */
  async run(): Promise<void> {
    for (let action = this.#soon.shift(); action && !this.isOver(); action = this.#soon.shift()) {
      action();
      // What was woken runs in microtasks, some of them one after the other.
      for (let i = 0; i < 10; i++) await Promise.resolve();
    }
  }
}

function setUp() {
  const fake = new FakeSleep();
  const words = new Int32Array(new SharedArrayBuffer(16));
  return { fake, shared: new SharedSleep(words, fake) };
}

/** A watched thread whose clock is ahead by 5000 ms. */
function watched({ fake, shared }: ReturnType<typeof setUp>) {
  const memory = new SharedMemory();
  return { memory, sleep: new SleepOfThread(shared, memory, () => fake.time + 5000) };
}

async function repeat(times: number, sleep: () => Promise<void>): Promise<void> {
  for (let i = 0; i < times; i++) await sleep();
}

test('while one awaits an answer of the inspector, the event loop turns', async () => {
  const thread = setUp();
  const a = watched(thread);
  const b = watched(thread);
  void repeat(1, () => a.sleep.sleepInLoop(4));
  void repeat(1, () => b.sleep.sleep(10));
  await thread.fake.run();
  expect(thread.fake.slept).toEqual([
    { from: 0, millis: 4, inLoop: true },
    { from: 4, millis: 6, inLoop: false },
  ]);
});

test('an idle thread in which something begins to run is woken, and the others sleep on', async () => {
  const thread = setUp();
  const idle = watched(thread);
  const other = watched(thread);
  Atomics.store(idle.memory.words, Word.idle, 1);
  thread.fake.plan = [
    {
      at: 40,
      action: () => {
        noteWakeUp(idle.memory, 5040);
        Atomics.store(idle.memory.words, Word.idle, 0);
      },
    },
  ];
  const wokenAt: string[] = [];
  void idle.sleep.sleepWhileIdle().then(() => wokenAt.push(`idle ${thread.fake.time}`));
  void other.sleep.sleep(100).then(() => wokenAt.push(`other ${thread.fake.time}`));
  await thread.fake.run();
  expect(wokenAt).toEqual(['idle 40', 'other 100']);
  expect(idle.memory.sleep.get(Sleeping.suspensions)).toBe(0);
});

test('all of them are told of a suspension, in their own time', async () => {
  const thread = setUp();
  const a = watched(thread);
  const b = watched(thread);
  thread.fake.oversleepMillis = 80;
  void a.sleep.sleep(30);
  void b.sleep.sleep(50);
  await thread.fake.run();
  const suspension = ({ memory }: typeof a) =>
    [...memory.suspensions.read()].slice(Suspended.from, Suspended.stopped);
  expect(suspension(a)).toEqual([5030, 5110]);
  expect(suspension(b)).toEqual([5050, 5110]);
});

test('what was due while the thread worked for another one is no suspension', async () => {
  const thread = setUp();
  const a = watched(thread);
  const b = watched(thread);
  void a.sleep.sleep(30).then(() => {
    thread.fake.time += 90;
  });
  void b.sleep.sleep(50);
  await thread.fake.run();
  expect(b.memory.sleep.get(Sleeping.suspensions)).toBe(0);
});
