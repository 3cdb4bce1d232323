/** The watchdog thread that several threads share sleeps until the first of them is due. */
import { createSharedMemory, Flag, Mark } from '../../src/sample/shared-memory.ts';
import { type Bed, SharedSleep, SleepOfThread } from '../../src/workers/shared-sleep.ts';

/** A bed on a fake clock. A night ends after `millis`, or at what is planned to end it. */
class FakeBed implements Bed {
  time = 0;
  readonly nights: { from: number; millis: number; inLoop: boolean }[] = [];
  /** What happens at a time: it ends the night. */
  plan: { at: number; action: () => void }[] = [];
  /** The thread has no CPU for so long when a night ends. */
  oversleepMillis = 0;
  /** Nothing further is scheduled after it. */
  isOver = () => this.time > 1000;
  #soon: (() => void)[] = [];

  now(): number {
    return this.time;
  }

  wait(_flags: Int32Array, _bell: number, millis: number): void {
    this.nights.push({ from: this.time, millis, inLoop: false });
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
    this.nights.push({ from: this.time, millis, inLoop: true });
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
  const bed = new FakeBed();
  const flags = new Int32Array(new SharedArrayBuffer(16));
  return { bed, shared: new SharedSleep(flags, bed) };
}

/** A watched thread whose clock is ahead by 5000 ms. */
function watched({ bed, shared }: ReturnType<typeof setUp>) {
  const memory = createSharedMemory();
  return { memory, sleep: new SleepOfThread(shared, memory, () => bed.time + 5000) };
}

async function repeat(times: number, sleep: () => Promise<void>): Promise<void> {
  for (let i = 0; i < times; i++) await sleep();
}

test('each wakes up when it is due, and the thread sleeps in between', async () => {
  const night = setUp();
  const a = watched(night);
  const b = watched(night);
  const wokenAt: string[] = [];
  void repeat(3, async () => {
    await a.sleep.sleep(30);
    wokenAt.push(`a ${night.bed.time}`);
  });
  void repeat(2, async () => {
    await b.sleep.sleep(50);
    wokenAt.push(`b ${night.bed.time}`);
  });
  await night.bed.run();
  expect(wokenAt).toEqual(['a 30', 'b 50', 'a 60', 'a 90', 'b 100']);
  expect(night.bed.nights).toEqual([
    { from: 0, millis: 30, inLoop: false },
    { from: 30, millis: 20, inLoop: false },
    { from: 50, millis: 10, inLoop: false },
    { from: 60, millis: 30, inLoop: false },
    { from: 90, millis: 10, inLoop: false },
  ]);
});

test('while one awaits an answer of the inspector, the event loop turns', async () => {
  const night = setUp();
  const a = watched(night);
  const b = watched(night);
  void repeat(1, () => a.sleep.sleepInLoop(4));
  void repeat(1, () => b.sleep.sleep(10));
  await night.bed.run();
  expect(night.bed.nights).toEqual([
    { from: 0, millis: 4, inLoop: true },
    { from: 4, millis: 6, inLoop: false },
  ]);
});

test('an idle thread in which something begins to run is woken, and the others sleep on', async () => {
  const night = setUp();
  const idle = watched(night);
  const other = watched(night);
  Atomics.store(idle.memory.flags, Flag.idle, 1);
  night.bed.plan = [
    {
      at: 40,
      action: () => {
        idle.memory.marks[Mark.wakeUp] = 5040;
        Atomics.store(idle.memory.flags, Flag.idle, 0);
      },
    },
  ];
  const wokenAt: string[] = [];
  void idle.sleep.sleepWhileIdle().then(() => wokenAt.push(`idle ${night.bed.time}`));
  void other.sleep.sleep(100).then(() => wokenAt.push(`other ${night.bed.time}`));
  await night.bed.run();
  expect(wokenAt).toEqual(['idle 40', 'other 100']);
  expect(idle.memory.marks[Mark.suspensions]).toBe(0);
});

test('one that closes ends its sleep', async () => {
  const night = setUp();
  const { memory, sleep } = watched(night);
  night.bed.plan = [{ at: 7, action: () => Atomics.store(memory.flags, Flag.closing, 1) }];
  let wokenAt = 0;
  void sleep.sleep(400).then(() => {
    wokenAt = night.bed.time;
  });
  await night.bed.run();
  expect(wokenAt).toBe(7);
});

test('all of them are told of a suspension, in their own time', async () => {
  const night = setUp();
  const a = watched(night);
  const b = watched(night);
  night.bed.oversleepMillis = 80;
  void a.sleep.sleep(30);
  void b.sleep.sleep(50);
  await night.bed.run();
  const first = Mark.firstSuspension;
  expect([...a.memory.marks.slice(first, first + 2)]).toEqual([5030, 5110]);
  expect([...b.memory.marks.slice(first, first + 2)]).toEqual([5050, 5110]);
});

test('what was due while the thread worked for another one is no suspension', async () => {
  const night = setUp();
  const a = watched(night);
  const b = watched(night);
  void a.sleep.sleep(30).then(() => {
    night.bed.time += 90;
  });
  void b.sleep.sleep(50);
  await night.bed.run();
  expect(b.memory.marks[Mark.suspensions]).toBe(0);
});

test('when one ends, the others go on', async () => {
  const night = setUp();
  const a = watched(night);
  const b = watched(night);
  let turns = 0;
  void a.sleep.sleep(20);
  void repeat(5, async () => {
    await b.sleep.sleep(25);
    turns++;
  });
  await night.bed.run();
  expect(turns).toBe(5);
});
