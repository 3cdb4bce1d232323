/** Who uses the event loop if nothing blocks it. */
import { expectNoOtherBlock, expectQuietExit } from './support/expect-blocks.ts';
import { type Run, runApp } from './support/run-app.ts';
import { test, VoidMeasurement } from './support/scenario.ts';

/** What the app has noted of `loopProfile()`. */
interface LoopProfile {
  utilization: number;
  samples: number;
  functions: { functionName?: string; file?: string; share: number }[];
  operations: { httpRoute?: string; name?: string; share: number }[];
}

const MIN_SAMPLES = 100;
/** 4 standard deviations of a half, of that number of samples. */
const MAX_ERROR = 0.2;
const ROUTES = { '/list': 'renderList', '/users/:id': 'parseUser', '/sign': 'sign' };
/** Of 6 seconds: then no 5 of them were busy for half of the time. */
const CALM = 0.35;

const run = (mode: string, env: Record<string, string> = {}) =>
  runApp('loop-profile.cjs', { asyncHooks: 'auto', args: [mode], env });

const profileOf = ({ notes }: Run) => notes['profile'] as LoopProfile;

const busySamples = ({ metrics }: Run) =>
  metrics.filter(({ name }) => name === 'event_loop.busy.samples');

test('a busy loop without a block: shares of functions and of routes', async () => {
  const busy = await run('busy', { OTEL_INSTRUMENTATION_EVENT_LOOP_CONSOLE: 'true' });
  const { samples, functions, operations, utilization } = profileOf(busy);
  if (samples < MIN_SAMPLES) throw new VoidMeasurement(`${samples} samples`);

  expectNoOtherBlock(busy);
  expect(utilization).toBeGreaterThan(0.9);
  const used = busy.notes['used'] as Record<string, number>;
  const all = Object.values(used).reduce((sum, millis) => sum + millis, 0);
  for (const [route, name] of Object.entries(ROUTES)) {
    const truth = (used[route] as number) / all;
    const byRoute = operations.find(({ httpRoute }) => httpRoute === route);
    expect(byRoute?.name).toBe(`GET ${route}`);
    expect(Math.abs((byRoute?.share ?? 0) - truth)).toBeLessThan(MAX_ERROR);
    const byFunction = functions.find(({ functionName }) => functionName === name);
    expect(byFunction?.file).toMatch(/loop-profile\.cjs$/);
    expect(Math.abs((byFunction?.share ?? 0) - truth)).toBeLessThan(MAX_ERROR);
  }
  expect([functions[0]?.functionName, operations[0]?.httpRoute]).toEqual(['renderList', '/list']);
  // All of the loop's time is in the metric, and counted once.
  const points = busySamples(busy);
  const total = points.reduce((sum, { value }) => sum + Number(value), 0);
  expect(total).toBeGreaterThan(MIN_SAMPLES / 10);
  expect(points.map(({ attributes }) => attributes)).toContainEqual({
    'code.function.name': 'renderList',
    'http.route': '/list',
  });
  expect(busy.code).toBe(0);
  expect(busy.exitDelayMillis).toBeLessThan(500);
});

test('a service that is not busy makes no sample, and prints nothing', async () => {
  const calm = await run('calm');
  const { utilization } = calm.notes['health'] as { utilization: number };
  if (utilization > CALM) throw new VoidMeasurement(`utilization ${utilization}`);

  expect(profileOf(calm)).toMatchObject({ samples: 0, functions: [], operations: [] });
  expect(busySamples(calm)).toEqual([]);
  expectQuietExit(calm);
});
