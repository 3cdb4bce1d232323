/**
 * Each subject is a service set up as its documentation says; what it sends has both blocks, and
 * nothing else.
 */
import { expectBlocks } from '../scenarios/support/expect-blocks.ts';
import type { SpanLine } from '../scenarios/support/run-app.ts';
import { sharedRun, test } from '../scenarios/support/scenario.ts';
import { blockingFunction, runSubject } from './support/run-subject.ts';
import { type Selected, selectedFor } from './support/selection.ts';

const SERVER = 1;
/**
 * What a framework and its instrumentations do in the same busy period, before and after a handler.
 */
const AROUND_MILLIS = 30;

/** The path of a request, from new and old semantic conventions, else from the name of the span. */
function pathOf({ attributes, name }: SpanLine): string {
  const url = attributes['url.path'] ?? attributes['http.target'] ?? attributes['http.url'] ?? name;
  return String(url).replace(/^[A-Z]+ |^http:..[^/]+|\?.*$/g, '');
}

function expectCode({ attributes }: SpanLine, name: string, choice: Selected): void {
  const reported = String(attributes['code.file.path']);
  const { file, firstLine, lastLine } = blockingFunction(name, choice, reported);
  // With all that it says of what ran, which tells why if it is another one.
  expect(attributes).toMatchObject({ 'code.function.name': name });
  expect(reported).toBe(file);
  expect(attributes['code.line.number']).toBeGreaterThanOrEqual(firstLine);
  expect(attributes['code.line.number']).toBeLessThanOrEqual(lastLine);
}

describe.each(selectedFor('services'))('$subject.name', (choice) => {
  const check = sharedRun(() => runSubject(choice));

  test('both blocks are reported once, with their lengths and parents, and nothing else is', () =>
    check((run) => {
      const { asynchronous, aroundMillis = AROUND_MILLIS } = choice.subject;
      expectBlocks(run, [
        { truth: 'handler', kind: asynchronous ? 'microtasks' : 'callback', aroundMillis },
        { truth: 'steps', kind: 'microtasks', aroundMillis },
      ]);
    }));

  test("they are on their request's trace", () =>
    check((run) => {
      for (const [i, path] of ['/handler', '/steps'].entries()) {
        const block = run.blocks[i] as SpanLine;
        const spans = run.spans.filter((span) => span.traceId === block.traceId);
        expect(spans.filter((span) => span.kind === SERVER).map(pathOf)).toContain(path);
        expect(spans.map((span) => span.spanId)).toContain(block.parentSpanId);
      }
    }));

  test('function, file and line are those that blocked the event loop', () =>
    check((run) => {
      expectCode(run.blocks[0] as SpanLine, 'hashOrders', choice);
      expectCode(run.blocks[1] as SpanLine, 'hashStep', choice);
    }));

  if (choice.subject.metrics) {
    test('metrics arrive', () =>
      check((run) => {
        expect(run.notes['metricNames']).toEqual(
          expect.arrayContaining(['event_loop.lag', 'event_loop.block.duration']),
        );
      }));
  }

  if (choice.subject.compared) {
    test('it answers as without the package', () =>
      check((run) => {
        expect(run.notes['answers']).toEqual(run.notes['answersAlone']);
        expect(run.notes['answersAlone']).not.toEqual([]);
      }));
  }

  test('the process ends by itself', () =>
    check((run) => {
      expect({ code: run.code, signal: run.signal, stderr: run.stderr }).toEqual({
        code: 0,
        signal: null,
        stderr: expect.not.stringContaining('opentelemetry-instrumentation-event-loop'),
      });
    }));
});
