/**
 * Built-in functions that take long in a single call: the function that made the call is named, and
 * so is the built-in.
 */
import { runApp, type SpanLine, type Truth } from './support/run-app.ts';
import { test, VoidMeasurement } from './support/scenario.ts';
import { voidNaming, voidTruth } from './support/validity.ts';

const THRESHOLD_MILLIS = 30; // the app's
/** How long each call takes, at least: as short as can be, there are many. */
const CALL_MILLIS = '50';
/**
 * Functions of the language that are not wrapped: of a call in tail position, nothing is left on
 * the stack when V8 answers (docs/limits.md).
 */
const NOT_WRAPPED = [
  'Array.from',
  'Array.prototype.join',
  'Array.prototype.sort',
  'BigInt power',
  'BigInt.prototype.toString',
  'Buffer.indexOf',
  'Object.entries',
  'String.prototype.replace',
  'String.prototype.split',
  'TypedArray.prototype.sort',
];
/** More are not left out because a thread had no CPU: all are measured again. */
const MAX_VOID = 0.1;
/** What has to be right, and the built-in as it is reported. */
const ALWAYS = [
  'JSON.parse',
  'JSON.stringify',
  'structuredClone',
  'v8.serialize',
  'v8.deserialize',
  'fs.readFileSync',
  'Hash.update',
];

/**
 * Each a process of some four seconds, most of which goes into finding inputs that take long
 * enough. Two at the same time: names are judged, and no length is.
 */
const PARTS = 6;
const part = (i: number) => `${i}/${PARTS}`;

async function callsOf(chosen: string) {
  const run = await runApp('native-calls.cjs', {
    asyncHooks: 'auto',
    args: [chosen],
    env: { CALL_MILLIS },
  });
  expect(run.code).toBe(0);
  const isTooShort = ({ name }: SpanLine) =>
    run.truths.some(
      (truth) => truth.label === name && truth.durationMillis < 1.3 * THRESHOLD_MILLIS,
    );
  return run.spans
    .filter((span) => span.attributes['caller'] !== undefined && !isTooShort(span))
    .map((span) => {
      const block = run.blocks.find(({ parentSpanId }) => parentSpanId === span.spanId);
      const truth = run.truths.find(({ label }) => label === span.name) as Truth;
      return {
        voidBecause: block ? voidNaming(run, block) : voidTruth(run, truth, []),
        name: span.name,
        wanted: span.attributes['caller'],
        named: block?.attributes['code.function.name'],
        native: block?.attributes['event_loop.block.native_call'],
      };
    });
}

test('calls in the last expression of a function are named by that function', async () => {
  const calls: Awaited<ReturnType<typeof callsOf>> = [];
  for (let i = 1; i < PARTS; i += 2)
    for (const some of await Promise.all([callsOf(part(i)), callsOf(part(i + 1))]))
      calls.push(...some);

  expect(calls.length).toBeGreaterThanOrEqual(35);
  const wrong = calls.filter(
    ({ name, wanted, named, voidBecause }) =>
      wanted !== named && voidBecause === undefined && !NOT_WRAPPED.includes(name),
  );
  expect(wrong).toEqual([]);
  const voids = calls.filter(
    ({ wanted, named, voidBecause }) => wanted !== named && voidBecause !== undefined,
  );
  for (const { name, wanted, named, native, voidBecause } of calls) {
    if (!ALWAYS.includes(name) || voidBecause !== undefined) continue;
    expect({ name, named, native }).toEqual({ name, named: wanted, native: name });
  }
  if (voids.length > calls.length * MAX_VOID)
    throw new VoidMeasurement(`${voids.length} of ${calls.length}: ${voids[0]?.voidBecause}`);
}, 240_000);
