import { ROOT_CONTEXT } from '@opentelemetry/api';
import { suspendedIn } from '../../src/core/record/exclude/exclusions.ts';
import { SharedMemory, Sleeping } from '../../src/core/sample/shared-memory.ts';
import {
  maybeStoppedWithin,
  noteSuspension,
  stoppedSoFar,
  stoppedWithin,
  suspendedWithin,
} from '../../src/core/sample/suspensions.ts';
import { announceSleep } from '../../src/core/sample/thread-sleep.ts';
import { suspendWatchdog } from './support/note-suspension.ts';
import { stackSample } from './support/stack-sample.ts';

let memory: SharedMemory;
beforeEach(() => {
  memory = new SharedMemory();
});

const note = (from: number, until: number) => suspendWatchdog(memory, from, until);

test('a watchdog thread that is started again keeps what the one before has noted', () => {
  note(1000, 1500);
  announceSleep(new SharedMemory(memory.buffer), 2000);
  expect(suspendedWithin(memory, 900, 1600)).toBe(500);
  expect(stoppedSoFar(memory, 1900)).toBe(500);
});

describe('how much of a block is not its own', () => {
  const block = (cpu: number) => ({ start: 1000, end: 1800, cpu });
  const waited = (atLeast: number, others = 0, atMost = atLeast) => ({
    delay: { atLeast, atMost, ranAtMost: 800 },
    others: () => others,
  });
  const call = (name: string, from: number, until: number) => ({
    ...stackSample(until, ROOT_CONTEXT),
    requestedAt: from,
    nativeCall: { name, size: undefined },
  });
  const of = (
    cpu: number,
    known?: ReturnType<typeof waited>,
    samples: ReturnType<typeof call>[] = [],
    shared: SharedMemory | undefined = undefined,
  ) => suspendedIn(block(cpu), samples, shared, known?.delay, known?.others).millis;

  test.each<[string, number, ReturnType<typeof waited> | undefined, number]>([
    ['nothing if it ran', 800, waited(0), 0],
    ['nothing if it slept on a quiet machine', 1, waited(0, 0, 3), 3],
    ['nothing is known outside Linux', 1, undefined, 0],
    ['what it lacked of CPU', 100, waited(700), 700],
    ['of what it lacked before, no more than it did not run', 700, waited(0, 0, 300), 100],
    ['what it slept while other threads lacked CPU', 3, waited(20, 2000), 797],
    ['as far as they did', 3, waited(20, 300), 320],
    ['never what it ran', 300, waited(400, 5000), 500],
  ])('%s', (_what, cpu, known, millis) => expect(of(cpu, known)).toBe(millis));

  test('of that, what it slept for others is the least', () => {
    const slept = (cpu: number, { delay, others }: ReturnType<typeof waited>) =>
      suspendedIn(block(cpu), [], undefined, delay, others).sleptForOthers;
    expect(slept(3, waited(20, 300))).toBe(300);
    expect(slept(3, waited(700, 300))).toBe(97);
    expect(slept(800, waited(0, 300))).toBe(0);
    expect(slept(780, waited(15, 300))).toBe(0);
  });

  describe('beside other threads that lack CPU', () => {
    test.each([
      ['child_process.execSync', 300],
      ['Atomics.wait', 300],
      ['fs.readFileSync', 300],
      ['sleeper.sleepSync', 300],
      ['JSON.parse', 0],
      ['zlib.gzipSync', 0],
      ['crypto.scryptSync', 0],
    ])('a call of %s is its own for %i ms', (name, millis) => {
      expect(of(3, waited(400, 3000), [call(name, 1100, 1400)])).toBe(797 - millis);
    });

    test('also if stack samples have interrupted it', () => {
      const samples = [
        call('Atomics.wait', 1150, 1151),
        call('Atomics.wait', 1200, 1210),
        call('Atomics.wait', 1300, 1350),
        call('Atomics.wait', 1100, 1400),
      ];
      expect(of(3, waited(400, 3000), samples)).toBe(497);
    });

    test('what only waits, although the thread lacked a CPU in it', () => {
      expect(of(3, waited(700, 3000), [call('Atomics.wait', 1100, 1400)])).toBe(497);
    });

    test('but not more of it than the thread had no need of a CPU', () => {
      expect(of(3, waited(600, 3000), [call('fs.readFileSync', 1100, 1400)])).toBe(600);
    });
  });

  test('the process was stopped: that time, also in a call', () => {
    suspendWatchdog(memory, 1050, 1350, 0);
    expect(of(40, waited(450), [], memory)).toBe(750);
    expect(of(1, waited(0), [call('Atomics.wait', 1000, 1800)], memory)).toBe(300);
  });

  test('the watchdog thread is late, and has not noted why: a call is its own', () => {
    announceSleep(memory, 1100);
    expect(of(3, waited(100), [call('fs.readFileSync', 1010, 1790)], memory)).toBe(100);
    expect(of(3, waited(100), [], memory)).toBe(797);
  });

  test('the watchdog thread had no CPU, outside Linux: that may have been a stop', () => {
    suspendWatchdog(memory, 1050, 1800);
    expect(of(1, undefined, [], memory)).toBe(750);
    expect(of(1, undefined, [call('Atomics.wait', 1000, 1800)], memory)).toBe(750);
  });
});

describe('a stop of the process', () => {
  test('is not known before the thread has noted it', () => {
    memory.sleep.set(Sleeping.wakeUp, 1000);
    expect(stoppedWithin(memory, 900, 1700)).toBe(0);
    expect(maybeStoppedWithin(memory, 900, 1700)).toBe(700);
    noteSuspension(memory, 1000, 1702, 2);
    expect(maybeStoppedWithin(memory, 900, 1700)).toBe(698);
    expect(stoppedWithin(memory, 900, 1700)).toBe(698);
    memory.sleep.set(Sleeping.wakeUp, 1750);
    expect(maybeStoppedWithin(memory, 900, 1700)).toBe(698);
  });
});
