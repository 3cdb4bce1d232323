import { Allowed, Progress, Word } from '../../src/core/sample/shared-memory.ts';
import { FakeWatchdog } from './support/fake-watchdog.ts';
import { suspendWatchdog } from './support/note-suspension.ts';

describe('when stack samples are taken', () => {
  test('in one block: closely at first, then ever less often', async () => {
    const { captures } = await new FakeWatchdog().busyFrom(1000).run(4000);
    const ages = captures.map((time) => Math.round(time - 1000));
    expect(ages.slice(0, 25)).toEqual(Array.from({ length: 25 }, (_, i) => 50 + 40 * i));
    expect(ages.slice(25)).toEqual([1212, 1454, 1745, 2094, 2513]);
  });

  describe('with a budget that gets short', () => {
    const allow = (dog: FakeWatchdog, time: number, allowed: number) =>
      dog.at(time, () => Atomics.store(dog.memory.words, Word.allowed, allowed));

    test('few: each at twice the age', async () => {
      const dog = allow(new FakeWatchdog().busyFrom(1000), 1100, Allowed.few);
      const { captures } = await dog.run(2000);
      expect(captures.map(Math.round)).toEqual([1050, 1090, 1130, 1260, 1520]);
    });

    test('none, which are counted, until it is there again', async () => {
      const dog = allow(new FakeWatchdog().busyFrom(1000), 1020, Allowed.none);
      allow(dog, 1140, Allowed.all);
      const { captures } = await dog.run(1230);
      expect(captures.map(Math.round)).toEqual([1170, 1210]);
      expect(Atomics.load(dog.memory.words, Word.skipped)).toBe(3);
    });

    test('one is taken in any case before a block that goes on is reported', async () => {
      const dog = allow(new FakeWatchdog(100, 500).busyFrom(1000), 1020, Allowed.none);
      const { captures, reports } = await dog.run(1800);
      expect(captures.map(Math.round)).toEqual([1500]);
      expect(reports).toHaveLength(1);
    });
  });

  describe('to a thread that lacks CPU', () => {
    const RAN = 300;
    const DELAY = 70;
    /** The main thread has read its counters when the busy period began, at 1000. */
    const dogWith = (cpuAt: (age: number) => { ran: number; waited: number; slices?: number }) => {
      const dog = new FakeWatchdog().busyFrom(1000);
      dog.cpuAt = (time) => {
        const { ran, waited, slices = 1 } = cpuAt(time - 1000);
        return { ran: RAN + ran, waited: DELAY + waited, slices };
      };
      dog.memory.progress.values[Progress.ran] = RAN;
      dog.memory.progress.set(Progress.runDelay, DELAY);
      return dog;
    };
    /** It runs for 4 ms of each 40. */
    const inSlices = (age: number) => {
      const slices = Math.floor(age / 40);
      const inSlice = Math.min(4, age % 40);
      return { slices, ran: slices * 4 + inSlice, waited: slices * 36 };
    };
    const onTenth = (age: number) => ({ ran: age / 10, waited: age * 0.9 });

    test('as many as the same work has on a quiet machine', async () => {
      const dog = dogWith(onTenth);
      const { captures } = await dog.run(3100);
      expect(captures.map((time) => Math.round((time - 1000) / 10))).toEqual([51, 91, 131, 171]);
      expect(dog.sleeps.length).toBeLessThan(100);
    });

    test('later if it waits for a CPU whenever it is looked at', async () => {
      const { captures } = await dogWith(inSlices).run(3000);
      expect(captures.map((time) => Math.round(inSlices(time - 1000).ran))).toEqual([
        51, 92, 132, 176,
      ]);
    });

    test('none in iterations that are long by the wall only', async () => {
      const dog = dogWith(onTenth);
      for (let start = 1060; start < 3000; start += 60)
        dog.at(start, () => {
          dog.memory.openBusyPeriod(start);
          const { ran = 0, waited = 0 } = dog.cpuAt(start) ?? {};
          dog.memory.progress.values[Progress.ran] = ran;
          dog.memory.progress.set(Progress.runDelay, waited);
        });
      const { captures } = await dog.run(3000);
      expect(captures).toEqual([]);
    });

    test('none while it waits for a CPU, which is counted when it has one', async () => {
      const waits = (age: number) =>
        age < 400 ? { ran: 5, waited: 0 } : { ran: age - 395, waited: 395 };
      const { captures } = await dogWith(waits).run(1500);
      expect(captures.map(Math.round)).toEqual([1455, 1495]);
    });

    test('a call that sleeps counts as if it ran', async () => {
      const dog = dogWith(() => ({ ran: 5, waited: 45 }));
      dog.isReady = false;
      const { captures } = await dog.run(1200);
      expect(captures.map(Math.round)).toEqual([1100, 1140, 1180]);
    });
  });

  test('after a sleep that nobody has seen: a little later', async () => {
    const dog = new FakeWatchdog().busyFrom(1000);
    dog.cpuAt = (time) => ({ ran: 1 + Math.max(0, time - 1030), waited: 1 });
    dog.memory.progress.values[Progress.ran] = 1;
    dog.memory.progress.set(Progress.runDelay, 1);
    const { captures } = await dog.run(1150);
    expect(captures.map(Math.round)).toEqual([1055, 1095, 1135]);
  });

  test('what is not known of the CPU does not matter', async () => {
    const dog = new FakeWatchdog().busyFrom(1000);
    dog.cpuAt = () => undefined;
    const { captures } = await dog.run(1200);
    expect(captures.map(Math.round)).toEqual([1050, 1090, 1130, 1170]);
  });

  test('none while the loop idles', async () => {
    const dog = new FakeWatchdog().busyFrom(1000);
    Atomics.store(dog.memory.words, Word.idle, 1);
    await dog.run(5000);
    expect(dog.captures).toEqual([]);
    expect(new Set(dog.sleeps)).toEqual(new Set([500]));
  });
});

describe('the report of an ongoing block', () => {
  const AFTER = 1000;
  const dogWith = (answer: (dog: FakeWatchdog) => ReturnType<FakeWatchdog['answer']>) => {
    const dog = new FakeWatchdog(100, AFTER);
    dog.answer = () => answer(dog);
    return dog;
  };
  const named = (start: number) => (dog: FakeWatchdog) => ({
    start,
    isCodeKnown: true,
    facts: { name: 'spin', time: dog.time },
  });

  test('a sample that was not near it, and comes when it is due: another one is taken', async () => {
    const dog = dogWith(named(1000)).busyFrom(1000);
    dog.at(1190, () => {
      dog.answerMillis = 900;
    });
    dog.at(2000, () => {
      dog.answerMillis = 0;
    });
    const { reports } = await dog.run(4000);
    expect(reports).toMatchObject([{ facts: { name: 'spin' } }]);
    expect(dog.replies).toEqual([reports[0]?.time]);
  });

  test('a suspension does not count', async () => {
    const dog = dogWith(named(1000));
    suspendWatchdog(dog.memory, 1200, 1500);
    await dog.busyFrom(1000).run(4000);
    expect(dog.reports).toMatchObject([{ time: 2300 }]);
  });
});
