import { hasCpuQuota, RunDelay } from '../../src/exclude/run-delay.ts';
import { FakeClock } from './support/fake-clock.ts';

describe('a quota', () => {
  const hasQuota = (files: Record<string, string>) =>
    hasCpuQuota((file) => {
      const text = files[file];
      if (text === undefined) throw new Error('ENOENT');
      return text;
    });

  test.each<[string, boolean, Record<string, string>]>([
    ['no /proc', false, {}],
    [
      'version 2, none',
      false,
      { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/cpu.max': 'max 100000\n' },
    ],
    [
      'version 2, in a container',
      true,
      { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/cpu.max': '50000 100000\n' },
    ],
    [
      'version 2, of a group around it',
      true,
      {
        '/proc/self/cgroup': '0::/shop.slice/api.service\n',
        '/sys/fs/cgroup/shop.slice/api.service/cpu.max': 'max 100000\n',
        '/sys/fs/cgroup/shop.slice/cpu.max': '20000 100000\n',
      },
    ],
    [
      'version 1, none',
      false,
      { '/proc/self/cgroup': '3:cpu,cpuacct:/\n', '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1\n' },
    ],
    [
      'version 1',
      true,
      {
        '/proc/self/cgroup': '4:memory:/x\n3:cpu,cpuacct:/x\n',
        '/sys/fs/cgroup/cpu/x/cpu.cfs_quota_us': '20000\n',
      },
    ],
    [
      'version 1, in a container, where the path is that of the host',
      true,
      {
        '/proc/self/cgroup': '3:cpu,cpuacct:/docker/4bf9\n',
        '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '20000\n',
      },
    ],
  ])('%s: %p', (_name, expected, files) => {
    expect(hasQuota(files)).toBe(expected);
  });
});

describe('how long a thread waited for a CPU', () => {
  let clock: FakeClock;
  /** Of the thread so far, in milliseconds. */
  let delay: number;
  let isOpen: boolean;
  let runDelay: RunDelay;
  beforeEach(() => {
    clock = new FakeClock();
    delay = 70;
    isOpen = false;
    runDelay = new RunDelay(clock, () => {
      isOpen = true;
      return {
        read: () => `123456789 ${delay * 1e6} 42\n`,
        close: () => {
          isOpen = false;
        },
      };
    });
    runDelay.start();
  });
  /** The thread has no CPU. */
  function suspend(millis: number) {
    clock.time += millis;
    delay += millis;
  }

  test('is what it waited since the sample, but for the time around', () => {
    runDelay.sample();
    clock.wait(15);
    const start = clock.time;
    clock.run(20);
    suspend(160);
    const end = clock.time;
    clock.run(2);
    expect(runDelay.within(start, end)).toBe(160 - 15 - 2);
  });

  test('is nothing where it may have waited before the start', () => {
    runDelay.sample();
    suspend(80);
    const start = clock.time;
    clock.time += 130; // a synchronous call that waits
    expect(runDelay.within(start, clock.time)).toBe(0);
  });

  test('is nothing where it has computed, or waited in a synchronous call', () => {
    runDelay.sample();
    clock.run(100);
    clock.time += 100;
    expect(runDelay.within(clock.time - 200, clock.time)).toBe(0);
  });

  test('is not known, and taken for nothing, without a sample from before the start', () => {
    const start = clock.time;
    expect(runDelay.within(start, start + 100)).toBe(0);
    suspend(200);
    runDelay.sample();
    expect(runDelay.within(start, clock.time)).toBe(0);
  });

  test('is not asked for any more once it has stopped', () => {
    runDelay.sample();
    const start = clock.time;
    suspend(200);
    runDelay.stop();
    expect(isOpen).toBe(false);
    expect(runDelay.within(start, clock.time)).toBe(0);
  });

  test('is taken for nothing where it cannot be read', () => {
    const blind = new RunDelay(clock, () => {
      throw new Error('EACCES');
    });
    blind.start();
    blind.sample();
    clock.run(200);
    expect(blind.within(clock.time - 200, clock.time)).toBe(0);
  });
});
