/** Who uses the event loop where nothing blocks it. */
import type { LoopProfile } from '../../src/types.ts';
import { expectQuietExit } from './support/expect-blocks.ts';
import { type Run, runApp } from './support/run-app.ts';
import { test, VoidMeasurement } from './support/scenario.ts';

/** With so many, two shares of which one is twice the other are 4 standard deviations apart. */
const MIN_SAMPLES = 150;
/** From half of the time on the loop is busy. */
const CALM = 0.45;

const run = (mode: string, env: Record<string, string> = {}) =>
  runApp('loop-profile.cjs', { asyncHooks: 'auto', args: [mode], env });

const profileOf = ({ notes }: Run) => notes['profile'] as LoopProfile;

const busySamples = ({ metrics }: Run) =>
  metrics.filter(({ name }) => name === 'event_loop.busy.samples');

test('a busy loop without a block: functions and routes in the right order', async () => {
  const busy = await run('busy', { OTEL_INSTRUMENTATION_EVENT_LOOP_CONSOLE: 'true' });
  const { samples, functions, operations, utilization } = profileOf(busy);
  if (samples < MIN_SAMPLES) throw new VoidMeasurement(`${samples} samples`);

  expect(busy.blocks).toEqual([]);
  expect(utilization).toBeGreaterThan(0.9);
  const inApp = functions.filter(({ file }) => file?.endsWith('loop-profile.cjs') === true);
  expect(inApp.map(({ functionName }) => functionName).slice(0, 3)).toEqual([
    'renderList',
    'parseUser',
    'sign',
  ]);
  const routes = operations.filter(({ httpRoute }) => httpRoute !== undefined);
  expect(routes.map(({ name }) => name)).toEqual(['GET /list', 'GET /users/:id', 'GET /sign']);
  const [list] = routes;
  expect(list?.share).toBeGreaterThan(0.45);
  expect(list?.share).toBeLessThan(0.8);
  // All of the loop's time is in the metric, and counted once.
  const points = busySamples(busy);
  const total = points.reduce((sum, { value }) => sum + Number(value), 0);
  expect(total).toBeGreaterThan(MIN_SAMPLES / 100);
  expect(points.map(({ attributes }) => attributes)).toContainEqual({
    'code.function.name': 'renderList',
    'http.route': '/list',
  });
  expect(busy.code).toBe(0);
  expect(busy.exitDelayMillis).toBeLessThan(500);
});

test('a service at a third of its time makes no sample, and prints nothing', async () => {
  const calm = await run('calm');
  const { utilization } = calm.notes['health'] as { utilization: number };
  if (utilization > CALM) throw new VoidMeasurement(`utilization ${utilization}`);

  expect(profileOf(calm)).toMatchObject({ samples: 0, functions: [], operations: [] });
  expect(busySamples(calm)).toEqual([]);
  expectQuietExit(calm);
});
