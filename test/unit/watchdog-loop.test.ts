import { Word } from '../../src/sample/shared-memory.ts';
import { FakeWatchdog } from './support/fake-watchdog.ts';
import { suspendWatchdog } from './support/note-suspension.ts';

describe('when stack samples are taken', () => {
  test('in one block: closely at first, then ever less often', async () => {
    const { captures } = await new FakeWatchdog().busyFrom(1000).run(2000);
    expect(captures.map(Math.round)).toEqual([
      1050, 1090, 1130, 1170, 1210, 1252, 1302, 1363, 1435, 1523, 1623, 1723, 1823, 1923,
    ]);
  });

  test('on a tenth of a CPU: as many as the same work has with all of it', async () => {
    const dog = new FakeWatchdog().busyFrom(1000);
    dog.runDelay = (time) => (time - 1000) * 0.9;
    const { captures } = await dog.run(3000);
    // It is known from the age at which the block is noticed, 40 ms.
    const ages = captures.map((time) => Math.round(40 + (time - 1040) / 10));
    expect(ages).toEqual([50, 90, 130, 171, 211]);
    expect(dog.sleeps.length).toBeLessThan(200);
  });

  test('a block that sleeps in a call: as if it ran', async () => {
    const dog = new FakeWatchdog().busyFrom(1000);
    dog.runDelay = (time) => Math.min(time, 1050) * 0.9;
    const { captures } = await dog.run(1200);
    expect(captures.map(Math.round)).toEqual([1059, 1099, 1139, 1179]);
  });

  test('what is not known of the CPU does not matter', async () => {
    const dog = new FakeWatchdog().busyFrom(1000);
    dog.runDelay = () => Number.NaN;
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
