/**
 * Profiles of blocks, one file each, in the folder of the option `profileDir`. Guarantees: at most
 * 1000 from one thread. It throws what the file system says: the caller logs it.
 */
import fs from 'node:fs';
import { join } from 'node:path';
import { cpuProfileOf } from '../name/cpu-profile.ts';
import type { SampledStack } from '../name/sampled-stacks.ts';
import { withoutTracing } from '../otel/sdk-internals.ts';
import { makeFolder } from '../support/files.ts';
import type { EventLoopBlock } from '../types.ts';

// Taken once: spans are made of these by `@opentelemetry/instrumentation-fs`.
const { writeFileSync } = fs;

const MAX_FILES = 1000;

export class ProfileFiles {
  #files = 0;

  constructor(private readonly folder: string) {}

  write(stacks: readonly SampledStack[], block: EventLoopBlock): void {
    if (this.#files === MAX_FILES) return;
    const { startTimeMillis, durationMillis } = block;
    const time = new Date(startTimeMillis).toISOString().split(':').join('-');
    const name = `event-loop-blocked-${time}-${process.pid}-${++this.#files}.cpuprofile`;
    withoutTracing(() => {
      makeFolder(this.folder);
      const profile = JSON.stringify(cpuProfileOf(stacks, startTimeMillis, durationMillis));
      // A new file: what has the name already may be a pipe, which would block.
      writeFileSync(join(this.folder, name), profile, { flag: 'wx' });
    });
  }
}
