/** The answer to `GET /livez`. Its fields are a contract: docs/health.md. */

import { DEFAULT_HEALTH_WINDOW_MILLIS, Health } from '../detect/lag/health.ts';
import { createOriginOf } from '../name/in-app.ts';
import { clockOf } from '../sample/clock-origin.ts';
import { SharedMemory } from '../sample/shared-memory.ts';
import { SharedText } from '../sample/shared-records.ts';
import { toPath } from '../support/file-url.ts';
import { attempt } from '../support/guard.ts';
import type { BlockingCode } from '../types.ts';
import { LoopWatch } from './loop-watch.ts';
import type { HealthServerData } from './protocol.ts';
import { RunningCodeReader } from './running-code.ts';

export interface Answer {
  readonly statusCode: 200 | 503;
  readonly body: string;
}

/** Made once; answers without asking the main thread for anything. */
export function createLivez(data: HealthServerData): () => Promise<Answer> {
  const { memory, details, lagIntervalMillis } = data;
  const now = clockOf(data.clockOrigin);
  const watch = new LoopWatch(memory, data, now);
  const lag = new Health({ now, waited: () => Number.NaN }, lagIntervalMillis);
  const code =
    memory.watchdog &&
    new RunningCodeReader(
      new SharedText(memory.sample),
      new SharedMemory(memory.watchdog),
      createOriginOf(data.origin),
      data.hasLoader,
    );
  return async () => {
    const { name, blockedMillis, overdueMillis, cause } = await watch.status();
    // The status does not depend on whether the code can be named.
    const running = name === 'ok' ? undefined : attempt(() => code?.read(now()));
    lag.copy(memory.lag);
    const { lagMillis } = lag.read(DEFAULT_HEALTH_WINDOW_MILLIS, overdueMillis);
    const body = {
      status: name,
      pid: process.pid,
      blockedMillis,
      lagMillis: tenths(lagMillis),
      code: running?.code && placeOf(running.code, details),
      cause: cause ?? running?.cause,
      traceId: details ? running?.parent?.traceId : undefined,
    };
    return { statusCode: name === 'stuck' ? 503 : 200, body: JSON.stringify(body) };
  };
}

function placeOf({ functionName, file, line }: BlockingCode, details: boolean): object {
  if (!details || file === undefined) return { functionName };
  return { functionName, filePath: toPath(file), lineNumber: line };
}

const tenths = (millis: number) => Math.round(millis * 10) / 10;
