/** A block as one line for people: what a terminal, a log or an editor shows. */

import { printable } from '../../support/escape.ts';
import { causeOf, count, duration, pathBelow, percent } from '../../support/numbers.ts';
import type { AttributedRequest, CodePlace, EventLoopBlock } from '../../types.ts';
import { ANONYMOUS } from '../explain/name/stack-path.ts';
import { requestsText } from './requests-text.ts';
import { isOfMany, whyUnknown } from './unknown-code.ts';

export interface Paint {
  length(text: string, millis: number): string;
  code(text: string): string;
  aside(text: string): string;
}

const plain = (text: string) => text;
export const PLAIN: Paint = { length: plain, code: plain, aside: plain };

/** Of those that ran innermost, if none of them had much. */
const MAX_SHARES = 3;

/**
 * `event-loop-blocked 152 ms callback: hashRow (src/report.js:31:18), GET /report, trace 4bf…`;
 * what ran innermost, if that is another function, stands before the place to change:
 * `JSON.parse in readBody (lib/read.js:194:12)`.
 */
export function blockLine(
  block: EventLoopBlock,
  attribution: AttributedRequest,
  cwd: string,
  paint: Paint,
): string {
  const { kind, nativeCall, cause, gcTimeMillis = 0, durationMillis } = block;
  const length = paint.length(duration(durationMillis), durationMillis);
  const known = causeOf(cause, gcTimeMillis / durationMillis);
  const asides = [
    // A native call with a name says more.
    nativeCall === undefined || cause === 'gc' ? known : undefined,
    attribution.operation && printable(attribution.operation),
    attribution.madeBy && `of what ${printable(attribution.madeBy)} started`,
    attribution.traceId && `trace ${attribution.traceId}`,
  ].filter((aside) => aside);
  const code = codeOf(block, cwd, paint);
  const parts = [code, ...asides.map((aside) => paint.aside(String(aside)))];
  return `event-loop-blocked ${length}${kind === undefined ? '' : ` ${kind}`}: ${parts.join(', ')}`;
}

/** `event-loop-blocked 37 more times, 8.20 s in all: hashRow (src/report.js:31:18)`. */
export function repeatedLine(
  { block, blocks, totalMillis }: { block: EventLoopBlock; blocks: number; totalMillis: number },
  cwd: string,
  paint: Paint,
): string {
  const length = paint.length(duration(totalMillis), totalMillis);
  const times = count(blocks, 'more time');
  return `event-loop-blocked ${times}, ${length} in all: ${codeOf(block, cwd, paint)}`;
}

/**
 * `hashRow (src/report.js:31:18)`: below the working directory a relative path, which editors and
 * terminals open as well. A function without a name is its place: `src/report.js:31:18`.
 */
export function codeAt(code: CodePlace, cwd: string | undefined, paint: Paint): string {
  const { functionName, file, line, column } = code;
  const name = paint.code(printable(functionName));
  if (file === undefined) return name;
  const parts = [pathBelow(cwd, file), line, column].filter((part) => part !== undefined);
  const place = printable(parts.join(':'), Number.POSITIVE_INFINITY);
  return functionName === ANONYMOUS ? paint.code(place) : `${name} (${place})`;
}

/** The place of a block, after what ran innermost in it. */
export function codeOf(block: EventLoopBlock, cwd: string, paint: Paint): string {
  const { code, leaf, nativeCall } = block;
  const place = code === undefined ? unknownCode(block) : codeAt(code, cwd, paint);
  const requires = code?.requires ? ` requires ${pathBelow(cwd, code.requires)}` : '';
  const isSame = leaf?.functionName === code?.functionName && leaf?.file === code?.file;
  if (block.cause === 'message' && code !== undefined)
    return `message of a worker or process of ${place}`;
  const inner = nativeCall?.name ?? (leaf && !isSame ? codeAt(leaf, cwd, PLAIN) : undefined);
  const innermost = inner === undefined ? '' : `${printable(inner)} in `;
  const calledBy = code?.calledBy ? `, called by ${code.calledBy}` : '';
  return `${innermost}${place}${printable(requires + calledBy, Number.POSITIVE_INFINITY)}`;
}

/** `many functions (next 16 %, parse 14 %)`, `unknown code of a TickObject (no stack sample …)`. */
function unknownCode(block: EventLoopBlock): string {
  const { topFunctions, asyncResourceType, requests } = block;
  if (block.cause === 'message') return 'deserializes what a worker thread or child process sent';
  if (requests !== undefined) return printable(requestsText(requests));
  if (topFunctions !== undefined && isOfMany(block)) {
    const shares = topFunctions.slice(0, MAX_SHARES).map(({ functionName, share }) => {
      return `${printable(functionName)} ${percent(share)}`;
    });
    return `many functions (${shares.join(', ')})`;
  }
  const of = asyncResourceType === undefined ? '' : ` of a ${printable(asyncResourceType)}`;
  return `unknown code${of} (${whyUnknown(block)})`;
}
