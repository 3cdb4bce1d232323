/** What both ledgers, with async hooks and without, are to the other folders. */
import type { Context, Span } from '@opentelemetry/api';
import type { OngoingBlock, OngoingPileUp, PileUpShare, StackSample } from '../block.ts';

/** The account of the event loop's time: finds blocks, and says what is known of one that runs. */
export interface Ledger {
  /** Milliseconds that scopes and callbacks have voted for so far. */
  readonly voted: number;
  /** The latest task; its start is NaN where callbacks are not known. */
  readonly task: { readonly start: number };

  /**
   * Hot. The end of a context scope that began at `start`, when {@link voted} was `votedBefore`.
   */
  scope(context: Context, start: number, votedBefore: number): void;

  /** A stack sample, taken in the middle of what runs. */
  add(sample: StackSample): void;

  /** Whether the busy period that began at `busyPeriodStart` is the latest that is known. */
  isLatest(busyPeriodStart: number): boolean;

  /**
   * Whether the loop has waited for events since the latest busy period began, and may be waiting
   * now: Node.js runs some code after a wait with no callback around it (`Atomics.waitAsync`, and
   * with it `import()` where modules are hooked from a thread of their own).
   */
  hasWaited(): boolean;

  /** In the middle of a block: what is known of it so far. */
  ongoing(): OngoingBlock;

  /**
   * What piled up before the running callback, where it reached the threshold and is not reported.
   * Hot: asked for each span that ends. What the span ran is enough, unless it may have made the
   * pile-up; all of it is the same object as long as what is known of it is the same.
   */
  ongoingPileUp(span?: Span): OngoingPileUp | PileUpShare | undefined;

  /** The watchdog says when a busy period has grown old; ends of callbacks are timed only then. */
  relax(relaxed: boolean): void;

  /** Runs reporting of this package. Blocks inside it are its own: they count in metrics only. */
  asOwnWork(work: () => void): void;

  /**
   * The loop has run out of work, or waits for it, or the SDK shuts down: closes what no further
   * callback would close in time.
   */
  finish(): void;

  /**
   * Inside what runs, the thread has waited for work as the loop does, until now. What ran before
   * was closed by {@link finish}.
   */
  endWait(): void;

  /** Forgets everything, as before the first callback. */
  reset(): void;

  /**
   * A beat of the lag sampler's timer, at the top of the stack. Returns when its callback began.
   */
  beat(): number;

  /**
   * In a beat that was due at `due` and began at `beganAt`: how long the loop surely waited for
   * events in between. NaN for `due`: there was no beat before this one.
   */
  waitedSince(due: number, beganAt: number): number;
}
