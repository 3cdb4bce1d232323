import { CpuThrottling, throttlingFiles } from '../../src/detect/exclude/cpu-throttling.ts';

describe('the groups that have a quota', () => {
  const filesOf = (files: Record<string, string>) =>
    throttlingFiles((file) => {
      const text = files[file];
      if (text === undefined) throw new Error('ENOENT');
      return text;
    });

  test.each<[string, string[], Record<string, string>]>([
    ['no /proc', [], {}],
    [
      'version 2, none',
      [],
      { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/cpu.max': 'max 100000\n' },
    ],
    [
      'version 2, in a container',
      ['/sys/fs/cgroup/cpu.stat'],
      { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/cpu.max': '50000 100000\n' },
    ],
    [
      'version 2, of a group around it',
      ['/sys/fs/cgroup/shop.slice/cpu.stat'],
      {
        '/proc/self/cgroup': '0::/shop.slice/api.service\n',
        '/sys/fs/cgroup/shop.slice/api.service/cpu.max': 'max 100000\n',
        '/sys/fs/cgroup/shop.slice/cpu.max': '20000 100000\n',
      },
    ],
    [
      'version 1, none',
      [],
      { '/proc/self/cgroup': '3:cpu,cpuacct:/\n', '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1\n' },
    ],
    [
      'version 1',
      ['/sys/fs/cgroup/cpu/x/cpu.stat'],
      {
        '/proc/self/cgroup': '4:memory:/x\n3:cpu,cpuacct:/x\n',
        '/sys/fs/cgroup/cpu/x/cpu.cfs_quota_us': '20000\n',
      },
    ],
    [
      'version 1, in a container, with the path of the host',
      ['/sys/fs/cgroup/cpu/cpu.stat'],
      {
        '/proc/self/cgroup': '3:cpu,cpuacct:/docker/4bf9\n',
        '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '20000\n',
      },
    ],
  ])('%s: %p', (_name, expected, files) => {
    expect(filesOf(files)).toEqual(expected);
  });
});

describe('what was throttled', () => {
  let stat: string;
  let reads: number;
  let closed: number;
  let throttling: CpuThrottling;
  beforeEach(() => {
    reads = 0;
    closed = 0;
    throttling = new CpuThrottling(() => [
      {
        read: () => {
          reads++;
          return stat;
        },
        close: () => {
          closed++;
        },
      },
    ]);
  });

  test.each([
    ['version 1', 'throttled_time', 1e6],
    ['version 2', 'throttled_usec', 1e3],
  ])('is the difference of two readings: %s', (_version, name, perMilli) => {
    const statOf = (periods: number, millis: number) =>
      `nr_periods 90\nnr_throttled ${periods}\n${name} ${millis * perMilli}\nnr_bursts 0\n`;
    stat = statOf(5, 400);
    throttling.start();
    expect(throttling.since(1000)).toEqual({ millis: 0, periods: 0 });
    stat = statOf(7, 560);
    expect(throttling.since(1200)).toEqual({ millis: 160, periods: 2 });
    expect(throttling.since(1220)).toEqual({ millis: 0, periods: 0 });
  });

  test('leaves out what is older than 200 ms', () => {
    stat = 'nr_throttled 1\nthrottled_usec 80000\n';
    throttling.start();
    throttling.keepUp(1000);
    stat = 'nr_throttled 2\nthrottled_usec 160000\n';
    throttling.keepUp(1199);
    expect(reads).toBe(2);
    throttling.keepUp(1200);
    expect(reads).toBe(3);
    expect(throttling.since(1220)).toEqual({ millis: 0, periods: 0 });
  });

  test('is nothing if it cannot be read, without a quota, and after the end', () => {
    const blind = new CpuThrottling(() => [
      {
        read: () => {
          throw new Error('EACCES');
        },
        close: () => {},
      },
    ]);
    blind.start();
    expect(blind.since(1000)).toEqual({ millis: 0, periods: 0 });
    const none = new CpuThrottling(() => []);
    none.start();
    none.keepUp(1e6);
    expect(none.since(1e6)).toEqual({ millis: 0, periods: 0 });
    stat = 'throttled_usec 1000\n';
    throttling.start();
    throttling.stop();
    expect(closed).toBe(1);
    expect(throttling.since(2000)).toEqual({ millis: 0, periods: 0 });
    expect(reads).toBe(1);
  });
});
