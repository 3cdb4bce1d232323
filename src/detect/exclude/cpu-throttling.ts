/**
 * How long the control group of this process was out of its CPU quota: the kernel's counters.
 * Linux only. Which groups have a quota is looked up once, at the start.
 */
import { readFileSync } from 'node:fs';
import { attempt } from '../../support/guard.ts';
import { type OpenFile, openFile } from '../../support/schedstat.ts';

const CGROUPS = '/sys/fs/cgroup';
/**
 * How old the latest reading may get. Throttling of other threads, while the main thread wants no
 * CPU, is in the next one: the older, the more of it.
 */
const MAX_AGE_MILLIS = 200;

type ReadText = (file: string) => string;
const readText: ReadText = (file) => readFileSync(file, 'latin1');

/** The counters of each group that has a quota: that of this process, and those around it. */
export function throttlingFiles(read: ReadText = readText): string[] {
  const files = new Set<string>();
  // Without /proc, or without the permission to read it, there is none that we know of.
  const groups = attempt(() => read('/proc/self/cgroup')) ?? '';
  for (const line of groups.split('\n')) {
    const [, controllers = '', path = '/'] = line.split(':');
    const isV2 = controllers === '';
    if (!isV2 && !controllers.split(',').includes('cpu')) continue;
    const root = isV2 ? CGROUPS : `${CGROUPS}/cpu`;
    const file = isV2 ? 'cpu.max' : 'cpu.cfs_quota_us';
    // Outwards, up to the root: inside a container that is its own group, whatever the path says.
    for (let group = path.replace(/\/$/, ''); ; group = group.slice(0, group.lastIndexOf('/'))) {
      const quota = attempt(() => read(`${root}${group}/${file}`));
      if (quota !== undefined && Number.parseInt(quota, 10) > 0) {
        files.add(`${root}${group}/cpu.stat`);
      }
      if (group === '') break;
    }
  }
  return [...files];
}

/** What the kernel has counted of a group, or between two readings. */
export interface Throttled {
  /** The sum over all CPUs. */
  readonly millis: number;
  /** Periods of the quota in which the group was throttled. */
  readonly periods: number;
}

const NONE: Throttled = { millis: 0, periods: 0 };

/** `cpu.stat`: microseconds in version 2, nanoseconds in version 1. */
function parse(stat: string): Throttled {
  let { millis, periods } = NONE;
  for (const line of stat.split('\n')) {
    const [name, value] = line.split(' ');
    if (name === 'throttled_usec') millis = Number(value) / 1e3;
    if (name === 'throttled_time') millis = Number(value) / 1e6;
    if (name === 'nr_throttled') periods = Number(value);
  }
  return { millis, periods };
}

export class CpuThrottling {
  #files: OpenFile[] = [];
  #total = NONE;
  #at = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly open: () => OpenFile[] = () =>
      throttlingFiles().map((file) => openFile(file, 1024)),
  ) {}

  start(): void {
    if (this.#files.length === 0) this.#files = attempt(this.open) ?? [];
    this.#total = this.#read();
  }

  stop(): void {
    for (const file of this.#files) attempt(() => file.close());
    this.#files = [];
  }

  /** Call it now and then, at `now`. */
  keepUp(now: number): void {
    if (this.#files.length > 0 && now - this.#at >= MAX_AGE_MILLIS) this.since(now);
  }

  /** At most how much the thread was throttled since the counters were read last. */
  since(now: number): Throttled {
    this.#at = now;
    const before = this.#total;
    this.#total = this.#read();
    return {
      millis: Math.max(0, this.#total.millis - before.millis),
      periods: Math.max(0, this.#total.periods - before.periods),
    };
  }

  #read(): Throttled {
    return this.#files
      .map((file) => parse(attempt(() => file.read()) ?? ''))
      .reduce((a, b) => ({ millis: a.millis + b.millis, periods: a.periods + b.periods }), NONE);
  }
}
