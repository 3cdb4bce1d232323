/**
 * Profiles of blocks, one file each, in the folder of the option `profileDir`. Guarantees: at most
 * 1000 from one thread.
 */
import fs from 'node:fs';
import { join } from 'node:path';
import { cpuProfileOf } from '../name/cpu-profile.ts';
import { MIN_STACKS, sampledStacks } from '../name/sampled-stacks.ts';
import { withoutTracing } from '../otel/sdk-internals.ts';
import { makeFolder } from '../support/files.ts';
import { type BlockReport, type Emitter, isIgnored } from './emitter.ts';

// References from before `@opentelemetry/instrumentation-fs` patches them, which makes spans.
const { writeFileSync } = fs;

const MAX_FILES = 1000;

export class ProfileFiles implements Emitter {
  readonly failure = 'cannot write the profile of a block';
  #files = 0;

  constructor(private readonly folder: string) {}

  emit(report: BlockReport): void {
    const { block, samples } = report;
    if (isIgnored(report) || samples.length <= MIN_STACKS || this.#files === MAX_FILES) return;
    const { startTimeMillis, durationMillis } = block;
    const time = new Date(startTimeMillis).toISOString().split(':').join('-');
    const name = `event-loop-blocked-${time}-${process.pid}-${++this.#files}.cpuprofile`;
    withoutTracing(() => {
      makeFolder(this.folder);
      const stacks = sampledStacks(samples);
      const profile = JSON.stringify(cpuProfileOf(stacks, startTimeMillis, durationMillis));
      // Only a new file is written: one that exists may be a pipe, which would block.
      writeFileSync(join(this.folder, name), profile, { flag: 'wx' });
    });
  }
}
