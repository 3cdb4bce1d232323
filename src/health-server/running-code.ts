/**
 * What blocks the main thread: from its answer to the latest stack sample, or from what it left in
 * the shared memory before a native call that can take long. Named in the health server's thread,
 * when it is asked for.
 */
import type { OriginOf } from '../name/in-app.ts';
import { withoutLoaderLines } from '../report/loader-lines.ts';
import { namedFacts, type UnnamedFacts } from '../report/ongoing-facts.ts';
import type { PublishedSample } from '../sample/protocol.ts';
import { Progress, Request, type SharedMemory, timeOf, Word } from '../sample/shared-memory.ts';
import type { SharedText } from '../sample/shared-records.ts';

/** A function that can be interrupted answers much sooner. */
const NO_ANSWER_MILLIS = 50;

export class RunningCodeReader {
  constructor(
    private readonly sample: SharedText,
    private readonly watchdog: SharedMemory,
    private readonly originOf: OriginOf,
    private readonly hasLoader: boolean,
  ) {}

  /** Undefined without a stack sample of the busy period that runs. `now`: of the main thread. */
  read(now: number) {
    const facts = this.#latestFacts(now);
    if (facts === undefined) return undefined;
    const named = namedFacts(facts, this.originOf);
    const { code, parent, nativeCall } = withoutLoaderLines(named, this.hasLoader);
    const cause = nativeCall === undefined ? this.#javascript(now) : ('native' as const);
    return { code, parent, cause };
  }

  #latestFacts(now: number): UnnamedFacts | undefined {
    const { words, progress, longCall } = this.watchdog;
    const busyPeriod = Atomics.load(words, Word.busyPeriod);
    const since = Math.max(timeOf(busyPeriod, now), progress.get(Progress.reportedUntil));
    const published = this.sample.readJson<PublishedSample<UnnamedFacts>>();
    const isCurrent = published?.busyPeriod === busyPeriod && published.start >= since;
    const sampled = isCurrent ? published.facts : undefined;
    const call = longCall.readJson<UnnamedFacts>();
    const calledAt = call?.sample?.time ?? Number.NEGATIVE_INFINITY;
    const sampledAt = sampled?.sample?.time ?? Number.NEGATIVE_INFINITY;
    return calledAt >= since && calledAt > sampledAt ? call : sampled;
  }

  /** Native code and garbage collection do not answer; which of them it is, nobody can tell. */
  #javascript(now: number): 'javascript' | undefined {
    const requestedAt = this.watchdog.request.get(Request.requestedAt);
    const isAnswered = this.watchdog.answeredAt.get(0) >= requestedAt;
    return isAnswered || !(now - requestedAt > NO_ANSWER_MILLIS) ? 'javascript' : undefined;
  }
}
