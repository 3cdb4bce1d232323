/**
 * What Node.js does between the last callback and the end of the process: it waits for V8's
 * threads, for one. No code of the application.
 */
import type { Block } from '../../block.ts';
import { hasUserCode } from '../../name/stack-path.ts';

/** async_hooks has the process itself for the resource where no callback runs. */
const NO_CALLBACK = 'PROCESS';

export function isTeardown({
  resourceType,
  samples,
}: Pick<Block, 'resourceType' | 'samples'>): boolean {
  return resourceType === NO_CALLBACK && samples.every(({ frames }) => !hasUserCode(frames));
}
