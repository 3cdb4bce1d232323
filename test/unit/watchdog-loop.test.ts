import { Progress, Word, wordOf } from '../../src/sample/shared-memory.ts';
import { FakeWatchdog } from './support/fake-watchdog.ts';
import { suspendWatchdog } from './support/note-suspension.ts';

const between = (times: number[], from: number, to: number) =>
  times.filter((t) => t > from && t < to);

describe('when stack samples are taken', () => {
  test('in one block: closely at first, then ever less often', async () => {
    const { captures } = await new FakeWatchdog().busyFrom(1000).run(2000);
    expect(captures.map(Math.round)).toEqual([
      1050, 1090, 1130, 1170, 1210, 1252, 1302, 1363, 1435, 1523, 1623, 1723, 1823, 1923,
    ]);
  });

  test('after a block has been reported, sampling begins anew in the same busy period', async () => {
    const dog = new FakeWatchdog().busyFrom(1000).reportedAt(3500, 3660);
    const { captures } = await dog.busyFrom(3880).run(3900);
    expect(between(captures, 1000, 3500)).toHaveLength(29);
    expect(between(captures, 3500, 3660)).toEqual([3550, 3590, 3630]);
    expect(between(captures, 3660, 3880).map(Math.round)).toEqual([3710, 3750, 3790, 3830, 3870]);
  });

  test('a busy period shorter than the first sample has none, and is not marked', async () => {
    const dog = new FakeWatchdog();
    for (let time = 1000; time < 2000; time += 38) dog.busyFrom(time);
    await dog.run(2000);
    expect(dog.captures).toEqual([]);
    expect(dog.marked()).toBe(0);
  });

  test('a busy period is marked at 0.4 of the threshold', async () => {
    const dog = new FakeWatchdog().busyFrom(1000);
    let marked = Number.NaN;
    for (let time = 1000; time < 1100; time++) {
      dog.at(time, () => {
        if (dog.marked() === wordOf(1000) && Number.isNaN(marked)) marked = time;
      });
    }
    await dog.run(1100);
    expect(marked).toBeGreaterThanOrEqual(1040);
    expect(marked).toBeLessThanOrEqual(1050);
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

  test('comes once, with a fresh sample', async () => {
    const { reports } = await dogWith(named(1000)).busyFrom(1000).run(6000);
    expect(reports).toEqual([
      {
        facts: { name: 'spin', time: 2000 },
        time: 2000,
        ageMillis: 1000,
        canCapture: true,
        isInspected: false,
      },
    ]);
  });

  test('only samples that are near it say what it needs', async () => {
    const dog = dogWith(named(1000)).busyFrom(1000);
    await dog.run(3000);
    expect(between(dog.captures, 1000, 1250).length).toBeGreaterThanOrEqual(5);
    expect(dog.replies[0]).toBeGreaterThanOrEqual(1250);
    expect(dog.replies).toEqual(between(dog.captures, 1250, 2001));

    const never = await new FakeWatchdog(100, 0).busyFrom(1000).run(3000);
    expect([never.replies, never.captures.length > 5]).toEqual([[], true]);
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

  test('counts from where the block began, not the busy period', async () => {
    const { reports } = await dogWith(named(1500)).busyFrom(1000).run(6000);
    expect(reports).toMatchObject([{ time: 2500, ageMillis: 1000 }]);
  });

  test('what ran before in the same block is kept if a sample has no code', async () => {
    const { reports } = await dogWith((dog) =>
      dog.time < 1500
        ? named(1000)(dog)
        : { start: 1000, isCodeKnown: false, facts: { time: dog.time } },
    )
      .busyFrom(1000)
      .run(3000);
    expect(reports).toMatchObject([{ facts: { name: 'spin', time: 2000 } }]);
  });

  test('nothing of an earlier block is kept', async () => {
    const { reports } = await dogWith((dog) =>
      dog.time < 1500
        ? named(1000)(dog)
        : { start: 1500, isCodeKnown: false, facts: { time: dog.time } },
    )
      .busyFrom(1000)
      .reportedAt(1500)
      .run(3000);
    expect(reports).toMatchObject([{ facts: { time: 2500 }, ageMillis: 1000 }]);
    expect(reports[0]?.facts).not.toHaveProperty('name');
  });

  test('nor of what ran in the same busy period before the block', async () => {
    const { reports } = await dogWith((dog) =>
      dog.time < 1500
        ? named(1000)(dog)
        : { start: 1500, isCodeKnown: false, facts: { time: dog.time } },
    )
      .busyFrom(1000)
      .run(3000);
    expect(reports).toMatchObject([{ ageMillis: 1000 }]);
    expect(reports[0]?.facts).not.toHaveProperty('name');
  });

  test('an answer from a block that has been reported since does not count', async () => {
    const { reports } = await dogWith(named(1000)).busyFrom(1000).reportedAt(1900).run(4000);
    expect(reports).toMatchObject([{ time: 2900, facts: undefined }]);
  });

  test('each block of a busy period that does not end has its own', async () => {
    const { reports } = await dogWith((dog) =>
      named(Math.max(1000, dog.memory.progress.get(Progress.reportedUntil)))(dog),
    )
      .busyFrom(1000)
      .reportedAt(3000)
      .run(5000);
    expect(reports.map(({ time, ageMillis }) => [time, ageMillis])).toEqual([
      [2000, 1000],
      [4000, 1000],
    ]);
  });

  test('in a native call: what was known before, 250 ms later', async () => {
    const dog = dogWith(named(1000));
    dog.at(1600, () => {
      dog.answerMillis = 5000;
    });
    const { reports } = await dog.busyFrom(1000).run(4000);
    expect(reports).toHaveLength(1);
    expect(reports[0]).toMatchObject({ facts: { name: 'spin' } });
    expect(reports[0]?.ageMillis).toBeGreaterThanOrEqual(1250);
    expect(reports[0]?.ageMillis).toBeLessThanOrEqual(1260);
  });

  test('if no sample can be taken, it comes all the same', async () => {
    const dog = dogWith(named(1000));
    dog.canCapture = false;
    await dog.busyFrom(1000).run(4000);
    expect(dog.reports).toMatchObject([{ facts: undefined, ageMillis: 1000, canCapture: false }]);
  });

  test('none of a block that has ended while its sample was awaited', async () => {
    const dog = dogWith(named(1000));
    dog.at(1990, () => {
      dog.answerMillis = 500;
    });
    await dog.busyFrom(1000).busyFrom(2100).busyFrom(2140).busyFrom(2180).busyFrom(2220).run(2230);
    expect(dog.reports).toEqual([]);
  });

  test('a suspension does not count', async () => {
    const dog = dogWith(named(1000));
    suspendWatchdog(dog.memory, 1200, 1500);
    await dog.busyFrom(1000).run(4000);
    expect(dog.reports).toMatchObject([{ time: 2300 }]);
  });

  test('0: never', async () => {
    const { reports } = await new FakeWatchdog(100, 0).busyFrom(1000).run(10_000);
    expect(reports).toEqual([]);
  });
});

describe('with a health server', () => {
  test('each answer to a stack sample is passed on, with its busy period', async () => {
    const dog = new FakeWatchdog(100, 0, true).busyFrom(1000);
    dog.answer = () => ({ start: 1000, isCodeKnown: true, facts: { time: dog.time } });
    await dog.run(1150);
    expect(dog.replies).toEqual(dog.captures);
    expect(dog.published).toEqual(
      dog.captures.map((time) => ({ busyPeriod: wordOf(1000), start: 1000, facts: { time } })),
    );
    expect(dog.captures).toEqual([1050, 1090, 1130]);
  });

  test('without one, nothing is asked for that no report needs', async () => {
    const dog = await new FakeWatchdog(100, 0).busyFrom(1000).run(1150);
    expect([dog.replies, dog.published]).toEqual([[], []]);
  });
});
