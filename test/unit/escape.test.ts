import { blockLine, PLAIN } from '../../src/core/emit/block-line.ts';
import { EventLoopBlockedError } from '../../src/entries/testing/event-loop-blocked-error.ts';
import { blockJson } from '../../src/outputs/summary/json.ts';
import { jsonInHtml, jsonLine } from '../../src/support/escape.ts';
import { ongoingLine } from '../../src/threads/ongoing/ongoing-line.ts';
import type { EventLoopBlock } from '../../src/types.ts';

/** Ends of lines, colours, what C1 and bidirectional control characters do, half a character. */
const EVIL = 'x\r\nfake 999 ms\u001b[31m\u0000\u007f\u009b1m\u0085\u2028\u2029\u202e\ud800';
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

const code = {
  functionName: EVIL,
  file: `/app/${EVIL}.js`,
  line: 1,
  column: 2,
  stackTrace: `    at ${EVIL} (/app/a.js:1:2)`,
  requires: EVIL,
};
const nativeCall = { name: EVIL, size: undefined };
const block = {
  startTimeMillis: 0,
  durationMillis: 152,
  callbacks: 1,
  samples: 1,
  code,
  leaf: code,
  asyncResourceType: EVIL,
} satisfies EventLoopBlock;
const facts = {
  epochMillis: 0,
  startTimeMillis: 0,
  callbacks: 1,
  spanUnwanted: false,
  eventUnwanted: false,
  isExpected: false,
};
const { code: _, ...unknown } = block;

test.each<[string, string]>([
  ['a block', blockLine(block, { operation: EVIL }, '/', PLAIN)],
  ['with a native call', blockLine({ ...block, nativeCall }, { operation: EVIL }, '/', PLAIN)],
  ['of unknown code', blockLine(unknown, {}, '/', PLAIN)],
  ['as JSON', jsonLine(blockJson(block, { operation: EVIL }))],
  [
    'that has not ended',
    ongoingLine(
      {
        facts: { ...facts, code, nativeCall },
        ageMillis: 1,
        canCapture: true,
      },
      new Date(),
      7,
      { id: 3, name: EVIL },
    ),
  ],
])('the line of %s is one line, and controls no terminal', (_what, line) => {
  expect(line).not.toMatch(UNPRINTABLE);
});

test('the error of a test has as many lines as for any name', () => {
  const messageOf = (name: string) =>
    new EventLoopBlockedError(
      [{ ...block, code: { ...code, functionName: name, stackTrace: `at ${name}` } }],
      100,
    ).message.split('\n');
  expect(messageOf(EVIL.replaceAll('\n', '\r'))).toHaveLength(messageOf('x').length);
  for (const line of messageOf(EVIL.replaceAll('\n', '\r'))) expect(line).not.toMatch(UNPRINTABLE);
});

test('JSON is the same value', () => {
  const value = { text: `${EVIL}\u{1f600}\u{e0001}</script>` };
  expect(JSON.parse(jsonLine(value))).toEqual(value);
  expect(JSON.parse(jsonInHtml(value))).toEqual(value);
});

test('nothing that is embedded ends a script, begins a comment or ends a line', () => {
  const text = '</script><!--&\u2028\u2029';

  expect(jsonInHtml({ text })).toBe(
    '{"text":"\\u003c/script\\u003e\\u003c!--\\u0026\\u2028\\u2029"}',
  );
  expect(JSON.parse(jsonInHtml({ text }))).toEqual({ text });
});
