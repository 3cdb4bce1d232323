/**
 * Sampling: the watchdog thread, the stack samples that it asks for, and built-ins that are known
 * to take long. Samples go to the ledger, and to listeners.
 */
import type { StackSample } from '../../block.ts';
import { letGoOfSignals } from '../../support/signal-listener.ts';
import { ongoingThreadData } from '../../threads/ongoing/thread-data.ts';
import { WATCHDOG_CODE } from '../../worker-code.generated.ts';
import { ongoingReply } from '../emit/ongoing-facts.ts';
import { takeResource } from '../record/hooks/resource-classes.ts';
import { takeNativeCall } from '../record/native/call-stack.ts';
import { LongCalls } from '../record/native/long-calls.ts';
import { NativeCalls } from '../record/native/native-calls.ts';
import type { CaptureTimes } from '../sample/capture-times.ts';
import { Capturer } from '../sample/capturer.ts';
import type { CaptureReply } from '../sample/protocol.ts';
import type { SharedText } from '../sample/shared-records.ts';
import { Watchdog } from '../sample/watchdog.ts';
import type { Common, Part } from './common.ts';
import type { Detection } from './detection.ts';

/**
 * One for the thread, of whichever session is active: call sites that V8 has compiled for a wrapper
 * find the same one again.
 */
const nativeCalls = new NativeCalls();

export function createSampling(common: Common, times: CaptureTimes, detection: Detection) {
  const { capture, clock, config, log, origin, targets } = common;
  const isConsoleOnly = targets.isConsoleOnly === true;
  const { ledger } = detection;
  let setReady = () => {};
  const ready = new Promise<void>((resolve) => {
    setReady = resolve;
  });
  const capturer = new Capturer(clock, ledger, takeResource, takeNativeCall);
  const reply = (sample: StackSample): CaptureReply => {
    const block = ledger.ongoing(sample.drain !== undefined);
    const context = { value: ledger.ownerOf(sample, block.start) };
    const owned = Object.create(sample, { context }) as StackSample;
    return ongoingReply(owned, block, clock, config.requireParentSpan);
  };

  const watchdog =
    capture &&
    new Watchdog(
      times,
      {
        // Asked for each time that the thread is started.
        threadSetup: () => ({
          code: WATCHDOG_CODE,
          ...ongoingThreadData(config, isConsoleOnly, origin),
        }),
        capture: (busyPeriodStart, requestedAt) => {
          const start = clock.now();
          const sample = capturer.capture(busyPeriodStart, requestedAt);
          if (sample === undefined) return undefined;
          try {
            detection.runEnds.mark(sample);
            detection.own.sampled(start);
          } catch {
            // The running code has hardly any stack left.
          }
          letGoOfSignals(sample.time - busyPeriodStart);
          return sample;
        },
        reply,
        watching: (isWatching) => {
          detection.watch(isWatching);
          if (isWatching) setReady();
        },
        lost: () => {
          setReady();
          detection.samplesLost();
        },
      },
      log,
      capture.Thread,
      capture.memory,
    );

  if (watchdog !== undefined) {
    detection.listeners.push({
      upkeep: (now) => watchdog.beat(now, clock.waited()),
      idle: () => watchdog.idle(),
      wake: () => watchdog.wakeUp(clock.now()),
    });
  }
  const hasNativeCalls = watchdog !== undefined && config.nativeCalls;
  if (hasNativeCalls) detection.listeners.push({ upkeep: () => nativeCalls.followSqlite() });

  return {
    parts: [
      watchdog ?? { start: () => setReady() },
      { stop: () => setReady() },
      hasNativeCalls ? nativeCallsPart(common, detection, watchdog.memory.longCall, reply) : {},
    ] satisfies Part[],
    /** Resolves when stack samples can be taken, or it is known that they cannot. */
    ready,
  };
}

function nativeCallsPart(
  { clock, log }: Common,
  { ledger }: Detection,
  memory: SharedText,
  reply: (sample: StackSample) => CaptureReply,
): Part {
  const ports = {
    facts: (sample: StackSample) => reply(sample).facts,
    resource: takeResource,
    add: (sample: StackSample) => ledger.add(sample),
  };
  const longCalls = new LongCalls(clock, memory, ports, log.faults);
  const onError = (error: unknown) =>
    log.later.log('warn', 'a built-in function cannot be wrapped', error);
  return {
    start: () => nativeCalls.enable(onError, longCalls),
    stop: () => nativeCalls.disable(),
  };
}
