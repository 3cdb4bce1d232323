/** The moments of the loop profile, in the watchdog thread. */
import type { ThreadExtra } from '../extra.ts';
import { ProfileMoments } from './moments.ts';

export const profile: ThreadExtra = {
  moments({ profile: options }, parts) {
    return options && new ProfileMoments({ ...parts, options });
  },
};
