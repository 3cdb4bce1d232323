/** The one line on stderr that a thread leaves behind whose event loop is blocked for good. */
import type { BlockedThread } from '../block-attributes.ts';
import type { OngoingFacts } from '../report/ongoing-facts.ts';
import type { OngoingReport } from '../sample/protocol.ts';
import { toPath } from '../support/file-url.ts';
import type { BlockingCode } from '../types.ts';

const MAIN_THREAD_ID = 0;

export function ongoingLine(
  { facts, ageMillis, canCapture }: OngoingReport<OngoingFacts>,
  time: Date,
  pid: number,
  thread: BlockedThread,
): string {
  const unknown = canCapture ? 'native code' : 'unknown code';
  const place = facts?.code === undefined ? unknown : functionAndPlace(facts.code);
  const code = facts?.nativeCall === undefined ? place : `${facts.nativeCall.name} ← ${place}`;
  const parent = facts?.parent;
  const trace = parent === undefined ? 'no trace' : `trace ${parent.traceId} span ${parent.spanId}`;
  const seconds = (ageMillis / 1000).toFixed(1);
  const what = `event-loop-blocked for ${seconds} s, not ended`;
  const where = thread.id === MAIN_THREAD_ID ? '' : `, thread ${thread.id} ${thread.name}`;
  return `${time.toISOString()} ${what}: ${code}, ${trace}, pid ${pid}${where}`;
}

function functionAndPlace({ functionName, file, line, column }: BlockingCode): string {
  if (file === undefined) return functionName;
  const place = [toPath(file), line, column].filter((part) => part !== undefined);
  return `${functionName} (${place.join(':')})`;
}
