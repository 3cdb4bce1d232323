/**
 * Native calls that are known to be long: each leaves behind, before it begins, what the watchdog
 * thread reports of it if it does not end; and counts as a stack sample of the time that it took.
 */

import type { RunningResource, StackSample } from '../../../block.ts';
import { activeContext } from '../../../otel/active-context.ts';
import type { Faults } from '../../../otel/diag-once.ts';
import type { Clock } from '../../../support/clock.ts';
import type { SharedText } from '../../sample/shared-records.ts';
import { type LongCall, type LongCallListener, MIN_SAMPLED_MILLIS } from './call-stack.ts';

export class LongCalls implements LongCallListener {
  #entered: (LongCall & { readonly sample: StackSample; readonly facts: string })[] = [];

  constructor(
    private readonly clock: Clock,
    private readonly memory: SharedText,
    private readonly ports: {
      /** The facts of the running block, as plain data. */
      facts(sample: StackSample): object;
      resource(): RunningResource;
      add(sample: StackSample): void;
    },
    readonly faults: Faults,
  ) {}

  entered(call: LongCall): void {
    const { depth } = call;
    const sample = this.#sampleOf(call, this.clock.now());
    // In this order: what throws is not left, either.
    const facts = JSON.stringify(this.ports.facts(sample));
    this.memory.write(facts);
    this.#dropFrom(depth);
    this.#entered.push({ ...call, sample, facts });
  }

  left({ depth }: LongCall): void {
    const left = this.#entered.find((entered) => entered.depth === depth);
    this.#dropFrom(depth);
    this.memory.write(this.#entered.at(-1)?.facts ?? '');
    if (left === undefined) return;
    const { sample } = left;
    const time = this.clock.now();
    if (time - sample.requestedAt >= MIN_SAMPLED_MILLIS) this.ports.add({ ...sample, time });
  }

  emptied(): void {
    this.memory.write('');
    this.#entered = [];
  }

  waited(call: LongCall, since: number): void {
    this.ports.add({ ...this.#sampleOf(call, since), time: this.clock.now() });
  }

  #sampleOf({ name, size, frames }: LongCall, time: number): StackSample {
    const resource = this.ports.resource();
    return {
      requestedAt: time,
      time,
      context: activeContext(),
      resourceType: resource.type(),
      asyncId: resource.asyncId,
      drain: resource.drain(),
      frames,
      nativeCall: { name, size },
    };
  }

  /** A call is over, and with it all that began inside it. */
  #dropFrom(depth: number): void {
    this.#entered = this.#entered.filter((entered) => entered.depth < depth);
  }
}
