/** The answer to `GET /livez`. Its fields are a contract: docs/health.md. */

import { DEFAULT_HEALTH_WINDOW_MILLIS, Health } from '../../core/record/lag/health.ts';
import { clockOf } from '../../core/sample/clock-origin.ts';
import { LoopWatch } from './loop-watch.ts';
import type { HealthServerData } from './protocol.ts';

export interface Answer {
  readonly statusCode: 200 | 503;
  readonly body: string;
}

/** Made once; answers without asking the main thread for anything. */
export function createLivez(data: HealthServerData): () => Promise<Answer> {
  const { memory, lagIntervalMillis } = data;
  const now = clockOf(data.clockOrigin);
  const watch = new LoopWatch(memory, data, now);
  const lag = new Health({ now, waited: () => Number.NaN }, lagIntervalMillis);
  return async () => {
    const { name, blockedMillis, overdueMillis } = await watch.status();
    lag.copy(memory.lag);
    const { lagMillis } = lag.read(DEFAULT_HEALTH_WINDOW_MILLIS, overdueMillis);
    const body = {
      status: name,
      pid: process.pid,
      blockedMillis,
      lagMillis: tenths(lagMillis),
    };
    return { statusCode: name === 'stuck' ? 503 : 200, body: JSON.stringify(body) };
  };
}

const tenths = (millis: number) => Math.round(millis * 10) / 10;
