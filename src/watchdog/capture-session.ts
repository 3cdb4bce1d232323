/** Asks the main thread for stack samples, through an inspector session. Watchdog thread only. */
import type { Session } from 'node:inspector';
import type { CaptureReply, ProfileReply, WatchdogData, WatchdogMessage } from './protocol.ts';
import { Flag, Mark, type SharedMemory } from './shared-memory.ts';
import type { Sleep } from './thread-sleep.ts';

/** While a capture is under way, the main thread's exit must not be kept waiting for long. */
const POLL_MILLIS = 2;
const MAX_POLL_MILLIS = 10;

type Inspector = typeof import('node:inspector');

/** What came of a request: `isOver` where the busy period had ended. */
export interface Captured<Facts extends object> {
  readonly reply: CaptureReply<Facts> | undefined;
  readonly isOver: boolean;
}

const NOTHING = { reply: undefined, isOver: false } as const;

/** Takes one stack sample of a busy period; calls `onWaiting` as long as it has to wait. */
export type Capture<Facts extends object> = (
  busyPeriodStart: number,
  onWaiting: () => void,
) => Promise<Captured<Facts>>;

/** Asks what ran at this moment; undefined where there was no answer. Otherwise as Capture. */
export type SampleProfile = (onWaiting: () => void) => Promise<ProfileReply | undefined>;

/** Connected only while it is used: a process that exits with a session open prints, and waits. */
class CaptureSession {
  #session: Session | undefined;

  constructor(
    private readonly inspector: Inspector,
    private readonly flags: Int32Array,
  ) {}

  /** False where the process exits, or the watchdog is stopped. */
  open(): boolean {
    // The main thread uses the two flags in the opposite order: one of the two reads the other's.
    Atomics.store(this.flags, Flag.connected, 1);
    if (Atomics.load(this.flags, Flag.closing) === 1) return false;
    this.#session = new this.inspector.Session();
    this.#session.connectToMainThread();
    return true;
  }

  evaluate(expression: string, onAnswer: (value: unknown) => void): void {
    this.#session?.post(
      'Runtime.evaluate',
      { expression, returnByValue: true, silent: true },
      (error, response) => onAnswer(error ? undefined : response?.result?.value),
    );
  }

  close(): void {
    try {
      this.#session?.disconnect();
    } finally {
      this.#session = undefined;
      Atomics.store(this.flags, Flag.connected, 0);
      Atomics.notify(this.flags, Flag.connected);
    }
  }
}

export class CaptureClient<Facts extends object> {
  readonly #memory: SharedMemory;
  readonly #expression: string;
  readonly #inspector = loadInspector();
  /** Sessions cannot be opened. */
  #isLost = false;

  constructor(
    { memory, channel, captureUrl }: Pick<WatchdogData, 'memory' | 'channel' | 'captureUrl'>,
    private readonly now: () => number,
    private readonly sleep: Pick<Sleep, 'sleepInLoop'>,
    private readonly post: (message: WatchdogMessage) => void,
  ) {
    this.#memory = memory;
    this.#expression = expressionFor(channel, captureUrl);
  }

  /**
   * Whether stack samples can be taken, as far as that is known without a session: with the first
   * one, V8's memory reducer begins to shrink the heap of an idle process (nodejs/node#66564), and
   * a service that never blocks must not pay for that.
   */
  availability(): WatchdogMessage {
    return this.#inspector === undefined
      ? { type: 'no-capture', reason: 'this Node.js has no inspector' }
      : { type: 'ready' };
  }

  /** Waits until the main thread has answered, however long a native call takes. */
  readonly capture: Capture<Facts> = async (busyPeriodStart, onWaiting) => {
    const { marks } = this.#memory;
    marks[Mark.captureBusyPeriod] = busyPeriodStart;
    const answer = await this.#ask(0, onWaiting);
    if (answer === undefined) return NOTHING;
    const reply = answer.json as CaptureReply<Facts> | undefined;
    return { reply, isOver: reply === undefined };
  };

  /** As {@link capture}, for the loop profile. */
  readonly sampleProfile: SampleProfile = async (onWaiting) =>
    (await this.#ask(1, onWaiting))?.json as ProfileReply | undefined;

  /** Undefined where there was no answer at all. */
  async #ask(
    forProfile: 0 | 1,
    onWaiting: () => void,
  ): Promise<{ readonly json: unknown } | undefined> {
    if (this.#inspector === undefined || this.#isLost) return undefined;
    const { marks, flags } = this.#memory;
    const session = new CaptureSession(this.#inspector, flags);
    try {
      if (!this.#isOpened(session)) return undefined;
      let isAnswered = false;
      let json: unknown;
      marks[Mark.captureForProfile] = forProfile;
      marks[Mark.captureRequestedAt] = this.now();
      session.evaluate(this.#expression, (value) => {
        isAnswered = true;
        if (typeof value === 'string') json = JSON.parse(value);
      });
      let poll = POLL_MILLIS;
      while (!isAnswered && Atomics.load(flags, Flag.closing) === 0) {
        await this.sleep.sleepInLoop(poll);
        poll = Math.min(MAX_POLL_MILLIS, poll + 1);
        if (!isAnswered) onWaiting();
      }
      return isAnswered ? { json } : undefined;
    } finally {
      session.close();
    }
  }

  #isOpened(session: CaptureSession): boolean {
    try {
      return session.open();
    } catch (error) {
      this.#isLost = true;
      const reason = error instanceof Error ? error.message : String(error);
      this.post({ type: 'no-capture', reason });
      return false;
    }
  }
}

/** Not imported: there are builds of Node.js without it. */
function loadInspector(): Inspector | undefined {
  try {
    return require('node:inspector') as Inspector;
  } catch {
    return undefined;
  }
}

/** The same text every time, so that V8 compiles it once. The answer is the message's property. */
function expressionFor(channel: string, sourceUrl: string): string {
  return `((message) => {
  const { channel } = process.getBuiltinModule('node:diagnostics_channel');
  channel(${JSON.stringify(channel)}).publish(message);
  return message.reply;
})({})
//# sourceURL=${sourceUrl}`;
}
