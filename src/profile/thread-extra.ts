/** The moments of the loop profile, in the watchdog thread. */
import type { ThreadExtra } from '../extra.ts';
import { MainThreadState, ProfileMoments } from './moments.ts';

export const profile: ThreadExtra = {
  moments({ profile: options, threadId }, parts) {
    if (options === undefined) return undefined;
    return new ProfileMoments({ ...parts, options, state: new MainThreadState(threadId) });
  },
};
