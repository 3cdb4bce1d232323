/**
 * The watchdog thread: notices, by its own clock, that the watched thread has been busy for long.
 *
 * It sleeps nearly always: while little is done it wakes up some 30 times a second at the default
 * threshold, and twice a second while the loop idles (`npm run bench -- idle`).
 */
import { BusyPeriod, type LoopParts } from './busy-period.ts';
import type { CaptureRoute } from './capture-route.ts';
import { CaptureClient } from './capture-session.ts';
import { clockOf } from './clock-origin.ts';
import { LongCallWriter, readLongCall } from './long-call-memory.ts';
import { MainThreadState } from './main-thread-state.ts';
import { ProfileMoments } from './profile-moments.ts';
import type { OngoingReport, WatchdogData, WatchdogMessage } from './protocol.ts';
import { Flag, Mark, type SharedMemory } from './shared-memory.ts';
import type { Sleep } from './thread-sleep.ts';

/** What the loop profile is to the loop. */
export type Moments = Pick<
  ProfileMoments,
  'untilDue' | 'note' | 'skip' | 'goOnAfterAnswer' | 'sampleIfDue'
>;

/** Watches until {@link Flag.closing} is set. */
export async function watchLoop<Facts extends object>(
  { flags }: SharedMemory,
  sleep: Pick<Sleep, 'sleep' | 'sleepWhileIdle'>,
  parts: LoopParts<Facts>,
  moments?: Moments,
): Promise<void> {
  const { marks } = parts;
  const { busyAfterMillis } = parts.options;
  let period: BusyPeriod<Facts> | undefined;
  /** Marks the busy period where it is old; milliseconds until it is otherwise. */
  const follow = (): number => {
    const start = marks[Mark.busyPeriodStart] as number;
    const left = start === 0 ? busyAfterMillis : busyAfterMillis - (parts.now() - start);
    if (left > 0) {
      period = undefined;
      return left;
    }
    marks[Mark.markedBusyPeriod] = start;
    if (period?.start !== start) period = new BusyPeriod(start, parts);
    return 0;
  };
  while (Atomics.load(flags, Flag.closing) === 0) {
    moments?.note();
    if (Atomics.load(flags, Flag.idle) === 1) {
      period = undefined;
      await sleep.sleepWhileIdle();
      moments?.skip();
      continue;
    }
    await moments?.sampleIfDue(() => {
      follow();
      period?.wait();
    });
    let millis = follow();
    if (period !== undefined) {
      millis = await period.watch();
      moments?.goOnAfterAnswer();
    }
    await sleep.sleep(Math.min(millis, moments?.untilDue ?? Number.POSITIVE_INFINITY));
  }
}

/** What a watched thread is watched with, beside its own data. */
export interface WatchdogPorts<Facts extends object> {
  readonly sleep: Sleep;
  readonly route: CaptureRoute;
  post(message: WatchdogMessage): void;
  reportOngoing(report: OngoingReport<Facts>): void;
}

/** Watches one thread until it, or its watchdog, ends. */
export function watchThread<Facts extends object>(
  data: WatchdogData,
  { sleep, route, post, reportOngoing }: WatchdogPorts<Facts>,
): Promise<void> {
  const { memory } = data;
  const now = clockOf(data.clockOrigin);
  const client = new CaptureClient<Facts>(data, route, now, sleep, post);
  const availability = client.availability();
  post(availability);
  const { marks } = memory;
  const canCapture = availability.type !== 'no-capture';
  const samples = data.sampleMemory && new LongCallWriter(data.sampleMemory);
  const parts: LoopParts<Facts> = {
    options: data,
    marks,
    now,
    isReached: () => client.isReached,
    capture: canCapture ? client.capture : undefined,
    longCall: () => readLongCall<Facts>(memory.longCall),
    publish: samples && ((sample) => samples.enter(sample, 0)),
    reportOngoing(report) {
      if (Atomics.load(memory.flags, Flag.closing) === 0) reportOngoing(report);
    },
  };
  const options = canCapture ? data.profile : undefined;
  const moments =
    options &&
    new ProfileMoments({
      options,
      marks,
      now,
      sample: client.sampleProfile,
      state: new MainThreadState(data.threadId),
    });
  return watchLoop(memory, sleep, parts, moments);
}
