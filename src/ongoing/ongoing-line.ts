/** The one line on stderr that a process leaves behind whose event loop never came back. */

import { toPath } from '../support/file-url.ts';
import type { CaptureReply } from '../watchdog/protocol.ts';

export function unfinishedLine(
  reply: CaptureReply | undefined,
  canCapture: boolean,
  ageMillis: number,
  time: Date,
  pid: number,
): string {
  const where =
    reply?.file === undefined
      ? ''
      : ` (${[toPath(reply.file), reply.line, reply.column].filter((part) => part !== undefined).join(':')})`;
  const unseen = canCapture ? 'native code' : 'unknown code';
  const who = reply?.functionName === undefined ? unseen : `${reply.functionName}${where}`;
  const trace = reply?.traceId === undefined ? 'no trace' : `trace ${reply.traceId} span ${reply.spanId}`;
  return `${time.toISOString()} event-loop-blocked for ${(ageMillis / 1000).toFixed(1)} s, not ended: ${who}, ${trace}, pid ${pid}`;
}
