/**
 * How long this thread waited for a CPU, where its container has a CPU quota. The kernel gives each
 * CPU a slice of the quota, so the watchdog thread, on another CPU, may run on while the main
 * thread is suspended. Linux only.
 */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import type { Clock } from '../support/clock.ts';
import { attempt } from '../support/guard.ts';

const CGROUPS = '/sys/fs/cgroup';
/** Of the thread that opens it: CPU time, time spent waiting for a CPU (ns), and time slices. */
const SCHEDSTAT = '/proc/thread-self/schedstat';

type ReadText = (file: string) => string;
const readText: ReadText = (file) => readFileSync(file, 'latin1');

/** A file that is read again and again. */
interface OpenFile {
  read(): string;
  close(): void;
}

/**
 * Opened once: `@opentelemetry/instrumentation-fs` makes a span of each `openSync` and
 * `readFileSync`, and none of `readSync`.
 */
function openSchedstat(): OpenFile {
  const descriptor = openSync(SCHEDSTAT, 'r');
  const buffer = Buffer.alloc(128);
  return {
    read: () => buffer.toString('latin1', 0, readSync(descriptor, buffer, 0, buffer.length, 0)),
    close: () => closeSync(descriptor),
  };
}

/** Whether the control group of this process, or one around it, has a CPU quota. */
export function hasCpuQuota(read: ReadText = readText): boolean {
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
      if (quota !== undefined && Number.parseInt(quota, 10) > 0) return true;
      if (group === '') break;
    }
  }
  return false;
}

export class RunDelay {
  #at = Number.NaN;
  #delay = Number.NaN;
  #schedstat: OpenFile | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly open: () => OpenFile = openSchedstat,
  ) {}

  start(): void {
    this.#schedstat ??= attempt(this.open);
  }

  stop(): void {
    attempt(() => this.#schedstat?.close());
    this.#schedstat = undefined;
    this.#at = Number.NaN;
  }

  /** To be called now and then while nothing blocks. `at`: now, or when what runs began. */
  sample(at = this.clock.now()): void {
    this.#delay = this.#now();
    this.#at = at;
  }

  /** At least how many milliseconds the thread waited for a CPU from `start` to `end`, just now. */
  within(start: number, end: number): number {
    if (!(this.#at <= start)) return 0;
    const waited = this.#now() - this.#delay;
    // What it waited before the start and after the end is at most all of that time.
    const outside = start - this.#at + (this.clock.now() - end);
    return Math.max(0, waited - outside) || 0;
  }

  #now(): number {
    return attempt(() => Number(this.#schedstat?.read().split(' ')[1]) / 1e6) ?? Number.NaN;
  }
}
