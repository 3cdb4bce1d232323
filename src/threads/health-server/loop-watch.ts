/** Reads the status of the main thread's event loop, and has it confirmed. Health server only. */
import { Request, SharedMemory, Sleeping, Word } from '../../core/sample/shared-memory.ts';
import { openFile, Schedstat } from '../../support/schedstat.ts';
import { sleep as realSleep } from '../../support/time.ts';
import { type LoopStatus, loopStatus, type StatusLimits } from './loop-status.ts';
import { Beat, beatIn, type HealthServerData, processCpuMillis } from './protocol.ts';

/**
 * After a suspension, this thread may be given a CPU before the main thread and the watchdog
 * thread. A status that is worse than the last one of the same block waits for them, once. Twice,
 * since the process may also be suspended in the first wait.
 */
const CONFIRM_MILLIS = [50, 50] as const;

const SEVERITY: Readonly<Record<LoopStatus['name'], number>> = { ok: 0, blocked: 1, stuck: 2 };

/** The id of the main thread is that of the process. */
const mainThreadSchedstat = () =>
  new Schedstat(() => openFile(`/proc/self/task/${process.pid}/schedstat`));

export class LoopWatch {
  /** What was answered of the block whose beat was due then: the worst status and the age. */
  #answered = { due: Number.NaN, severity: 0, overdueMillis: 0 };
  readonly #beat: ReturnType<typeof beatIn>;
  readonly #watchdog: SharedMemory | undefined;

  constructor(
    { beat, watchdog }: Pick<HealthServerData['memory'], 'beat' | 'watchdog'>,
    private readonly limits: StatusLimits,
    /** The main thread's `performance.now()`. */
    private readonly now: () => number,
    private readonly schedstat = mainThreadSchedstat(),
    private readonly sleep: (millis: number) => Promise<unknown> = realSleep,
  ) {
    this.#beat = beatIn(beat);
    this.#watchdog = watchdog && new SharedMemory(watchdog);
    schedstat.start();
  }

  async status(): Promise<LoopStatus> {
    let status = this.#read();
    if (SEVERITY[status.name] > this.#answeredOf(status.due).severity) {
      for (const millis of CONFIRM_MILLIS) await this.sleep(millis);
      status = this.#read();
    }
    const { due, name, overdueMillis } = status;
    const severity = Math.max(SEVERITY[name], this.#answeredOf(due).severity);
    this.#answered = { due, severity, overdueMillis };
    return status;
  }

  #answeredOf(due: number) {
    return due === this.#answered.due ? this.#answered : { severity: 0, overdueMillis: 0 };
  }

  #read(): LoopStatus {
    const counted = this.schedstat.read();
    const processCpu = processCpuMillis();
    const stopped = this.#watchdog?.sleep.get(Sleeping.stopped) ?? 0;
    // Read last: what has been counted since cannot be less than nothing.
    const beat = this.#beat.read();
    const at = (number: number) => beat[number] as number;
    const isKnown = counted && !Number.isNaN(at(Beat.waitedForCpu));
    const { ran, waited } = this.schedstat;
    const due = at(Beat.due);
    const now = this.now();
    // A stack sample knows it later than the beat, which may have been before a debugger came.
    const isInspected = at(Beat.inspected) === 1 || this.#watchdog?.isSet(Word.inspected) === true;
    return loopStatus(
      {
        now,
        due,
        ran: (isKnown ? ran : processCpu) - at(Beat.ran),
        waitedForCpu: isKnown ? waited - at(Beat.waitedForCpu) : Number.NaN,
        stopped: Math.max(0, stopped - at(Beat.stopped)),
        isInspected: isInspected && !this.#isWaiting(now - due, now),
      },
      this.limits,
      this.#answeredOf(due).overdueMillis,
    );
  }

  /** It has not answered a stack sample for most of the block. In a debugger it would have. */
  #isWaiting(age: number, now: number): boolean {
    if (this.#watchdog === undefined) return false;
    const requestedAt = this.#watchdog.request.get(Request.requestedAt);
    return this.#watchdog.answeredAt.get(0) < requestedAt && (now - requestedAt) * 2 > age;
  }
}
