/**
 * The watchdog thread: notices, by its own clock, that the watched thread has been busy for long.
 *
 * It sleeps nearly always: while little is done it wakes up some 30 times a second at the default
 * threshold, and twice a second while the loop idles (`npm run bench -- idle`).
 */
import { BusyPeriod, type LoopParts } from './busy-period.ts';
import { CaptureClient } from './capture-session.ts';
import { clockOf } from './clock-origin.ts';
import { readLongCall } from './long-call-memory.ts';
import type { OngoingReport, WatchdogData, WatchdogMessage } from './protocol.ts';
import { Flag, Mark, type SharedMemory } from './shared-memory.ts';
import { type Sleep, ThreadSleep } from './thread-sleep.ts';

/** Watches until {@link Flag.closing} is set. */
export async function watchLoop<Facts extends object>(
  { flags }: SharedMemory,
  sleep: Pick<Sleep, 'sleep' | 'sleepWhileIdle'>,
  parts: LoopParts<Facts>,
): Promise<void> {
  const { marks } = parts;
  const { busyAfterMillis } = parts.options;
  let period: BusyPeriod<Facts> | undefined;
  while (Atomics.load(flags, Flag.closing) === 0) {
    if (Atomics.load(flags, Flag.idle) === 1) {
      period = undefined;
      sleep.sleepWhileIdle();
      continue;
    }
    const start = marks[Mark.busyPeriodStart] as number;
    const age = start === 0 ? 0 : parts.now() - start;
    if (age < busyAfterMillis) {
      period = undefined;
      sleep.sleep(busyAfterMillis - age);
      continue;
    }
    marks[Mark.markedBusyPeriod] = start;
    if (period?.start !== start) period = new BusyPeriod(start, parts);
    sleep.sleep(await period.watch());
  }
}

/** All of the thread but the report of an ongoing block, which it is given. */
export function runWatchdogThread<Facts extends object>(
  data: WatchdogData,
  post: (message: WatchdogMessage) => void,
  reportOngoing: (report: OngoingReport<Facts>) => void,
): Promise<void> {
  const { memory } = data;
  const now = clockOf(data.clockOrigin);
  const sleep = new ThreadSleep(memory, now);
  const client = new CaptureClient<Facts>(data, now, sleep, post);
  const availability = client.availability();
  post(availability);
  return watchLoop(memory, sleep, {
    options: data,
    marks: memory.marks,
    now,
    capture: availability.type === 'no-capture' ? undefined : client.capture,
    isReached: () => client.isReached,
    longCall: () => readLongCall<Facts>(memory.longCall),
    reportOngoing,
  });
}
