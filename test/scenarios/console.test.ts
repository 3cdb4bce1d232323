/** `console: true`: what a developer gets on stderr, of a real service. */
import { EXIT_TOLERANCE_MILLIS, type Run, runApp, warmClientOf } from './support/run-app.ts';
import { test } from './support/scenario.ts';
import { judgeUnlessDelayed, runDelayOf, stalledSince } from './support/validity.ts';

const CONSOLE = { OTEL_INSTRUMENTATION_EVENT_LOOP_CONSOLE: 'true' };

/** What the machine may take of a run without making other blocks of it. */
const DELAY_MILLIS = 20;

/** As it is printed, for a regular expression. */
const lengthOf = (millis: number) =>
  millis < 999.5
    ? `${millis.toFixed(0)} ms`
    : `${(millis / 1000).toFixed(millis < 9995 ? 2 : 1)} s`.replace('.', '\\.');

/** A service that is asked for something slow, and on demand for its summary. */
const run = (env: Record<string, string>): Promise<Run> =>
  runApp('hashing-service.cjs', { env }, async (app) => {
    const get = await warmClientOf(app, '/readiness');
    await get('/compute-sync?millis=250');
    app.child.kill('SIGURG');
    await get('/readiness');
  });

test('a line for each block: length, kind, function and place, route, trace; what to change; what blocked most, on demand and at exit', async () => {
  const ended = await run(CONSOLE);
  const { stderr, blocks, code, exitDelayMillis } = ended;
  const [block] = blocks;
  const { 'code.function.name': name, 'code.line.number': lineNumber } = block?.attributes ?? {};
  const at = new RegExp(`: ${name} \\(.*/support/truth\\.cjs:${lineNumber}:\\d+\\)`);
  const lines = stderr
    .split('\n')
    .filter((said) => !/^(?:at start-up|not the application): /.test(said));
  const [line, advice, onDemand, place, atExit, , ...rest] = lines;
  const length = lengthOf(block?.durationMillis ?? 0);
  judgeUnlessDelayed(runDelayOf(ended), DELAY_MILLIS, () => {
    expect(line).toMatch(new RegExp(`^event-loop-blocked ${length} callback: `));
    expect(line).toMatch(at);
    expect(line).toMatch(new RegExp(`(, waiting)?, GET /compute-sync, trace ${block?.traceId}$`));
    expect(advice).toMatch(/^ {2}[A-Z].*\.$/);
    for (const summary of [onDemand, atExit]) {
      expect(summary).toMatch(new RegExp(`^event-loop-blocked: 1 block, ${length} of \\d`));
    }
    expect(place).toMatch(at);
    expect(rest).toEqual(['']);
  });
  expect(code).toBe(0);
  judgeUnlessDelayed(stalledSince(ended, Number(ended.notes['finished'])), DELAY_MILLIS, () =>
    expect(exitDelayMillis).toBeLessThan(EXIT_TOLERANCE_MILLIS),
  );
});

test('without it nothing is printed, and SIGURG stays what it is: ignored', async () => {
  const ended = await run({});
  const { stderr, blocks, code } = ended;
  judgeUnlessDelayed(runDelayOf(ended), DELAY_MILLIS, () => expect(blocks).toHaveLength(1));
  expect(stderr).toBe('');
  expect(code).toBe(0);
});
