/** The one line on stderr that a thread leaves behind whose event loop is blocked for good. */
import type { BlockedThread } from '../../core/emit/block-attributes.ts';
import { codeAt, PLAIN } from '../../core/emit/block-line.ts';
import type { OngoingFacts } from '../../core/emit/ongoing-facts.ts';
import type { OngoingReport } from '../../core/sample/protocol.ts';
import { printable } from '../../support/escape.ts';
import { toPath } from '../../support/file-url.ts';
import type { BlockingCode } from '../../types.ts';

const MAIN_THREAD_ID = 0;

/** A report whose code is named. */
type NamedReport = Pick<OngoingReport, 'ageMillis' | 'canCapture'> & {
  readonly facts: OngoingFacts | undefined;
};

export function ongoingLine(
  { facts, ageMillis, canCapture }: NamedReport,
  time: Date,
  pid: number,
  thread: BlockedThread,
): string {
  const unknown = canCapture ? 'native code' : 'unknown code';
  const place = facts?.code === undefined ? unknown : placeOf(facts.code);
  const { nativeCall } = facts ?? {};
  const code = nativeCall === undefined ? place : `${printable(nativeCall.name)} in ${place}`;
  const parent = facts?.parent;
  const trace = parent === undefined ? '' : `, trace ${parent.traceId} span ${parent.spanId}`;
  const seconds = (ageMillis / 1000).toFixed(1);
  const what = `event-loop-blocked for ${seconds} s, not ended`;
  const where =
    thread.id === MAIN_THREAD_ID ? '' : `, thread ${thread.id} ${printable(thread.name)}`;
  return `${time.toISOString()} ${what}: ${code}${trace}, pid ${pid}${where}`;
}

/** Its file may be a URL, and stays absolute: the thread may have another working directory. */
const placeOf = ({ file, ...code }: BlockingCode) =>
  codeAt({ ...code, ...(file !== undefined && { file: toPath(file) }) }, undefined, PLAIN);
