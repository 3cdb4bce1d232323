/** Reads the status of the main thread's event loop, and has it confirmed. Health server only. */
import { setTimeout as wait } from 'node:timers/promises';
import { Mark } from '../sample/shared-memory.ts';
import { openFile, Schedstat } from '../support/schedstat.ts';
import { Beat, type HealthServerMemory } from './beat-memory.ts';
import {
  type LoopStatus,
  type LoopStatusName,
  loopStatus,
  type StatusLimits,
} from './loop-status.ts';

/**
 * After a suspension, this thread may be given a CPU before the main thread and the watchdog
 * thread. A status that is worse than the last one of the same block waits for them, once. Twice,
 * since the process may also be suspended in the first wait.
 */
const CONFIRM_MILLIS = [50, 50] as const;

const SEVERITY: Readonly<Record<LoopStatusName, number>> = { ok: 0, blocked: 1, stuck: 2 };

/** The id of the main thread is that of the process. */
const mainThreadSchedstat = () =>
  new Schedstat(() => openFile(`/proc/self/task/${process.pid}/schedstat`, 128));

const processCpuMillis = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

export class LoopWatch {
  /** The worst status that was confirmed of the block whose beat was due then. */
  #confirmed = { due: Number.NaN, severity: 0 };

  constructor(
    private readonly memory: HealthServerMemory,
    private readonly limits: StatusLimits,
    /** The main thread's `performance.now()`. */
    private readonly now: () => number,
    private readonly schedstat = mainThreadSchedstat(),
    private readonly sleep: (millis: number) => Promise<unknown> = wait,
  ) {
    schedstat.start();
  }

  async status(): Promise<LoopStatus> {
    let status = this.#read();
    if (SEVERITY[status.name] <= this.#confirmedSeverity(status)) return status;
    for (const millis of CONFIRM_MILLIS) await this.sleep(millis);
    status = this.#read();
    const severity = Math.max(SEVERITY[status.name], this.#confirmedSeverity(status));
    this.#confirmed = { due: status.due, severity };
    return status;
  }

  #confirmedSeverity({ due }: LoopStatus): number {
    return due === this.#confirmed.due ? this.#confirmed.severity : SEVERITY.ok;
  }

  #read(): LoopStatus {
    const { beat, watchdog } = this.memory;
    for (;;) {
      const due = beat[Beat.due] as number;
      const isKnown = this.schedstat.read() && !Number.isNaN(beat[Beat.waitedForCpu]);
      const { ran, waited } = this.schedstat;
      const stopped = watchdog === undefined ? 0 : (watchdog.marks[Mark.stopped] as number);
      const status = loopStatus(
        {
          now: this.now(),
          due,
          ran: (isKnown ? ran : processCpuMillis()) - (beat[Beat.ran] as number),
          waitedForCpu: isKnown ? waited - (beat[Beat.waitedForCpu] as number) : Number.NaN,
          stopped: Math.max(0, stopped - (beat[Beat.stopped] as number)),
          isInspected: beat[Beat.inspected] === 1,
        },
        this.limits,
      );
      if (beat[Beat.due] === due) return status;
    }
  }
}
