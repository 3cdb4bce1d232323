/**
 * Text of the application, escaped for where it is written: nothing in it ends a line, controls a
 * terminal, or is markup.
 */

const MAX_NAME_LENGTH = 120;
/** Fast path: printable ASCII needs no Unicode search. */
const PRINTABLE_ASCII = /^[ -~]*$/;
/** Control, format, unassigned and lone surrogate characters, and ends of lines and paragraphs. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu;
/** What has a meaning in HTML, or had one in JavaScript before 2019. */
const UNSAFE_IN_HTML = /[<>&\u2028\u2029]/g;

/** For a terminal, a log line or a message. */
export function printable(text: string, maxLength = MAX_NAME_LENGTH): string {
  const safe = PRINTABLE_ASCII.test(text) ? text : text.replace(UNPRINTABLE, '\u{fffd}');
  return safe.length > maxLength ? `${safe.slice(0, maxLength - 1)}…` : safe;
}

export const jsonLine = (value: unknown): string =>
  JSON.stringify(value).replace(UNPRINTABLE, escaped);

/** JSON that may stand in a `<script>`. */
export const jsonInHtml = (value: unknown): string =>
  JSON.stringify(value).replace(UNSAFE_IN_HTML, escaped);

const escaped = (character: string): string =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
