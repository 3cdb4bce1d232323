/** Where a developer is sent: to the application's own function, at the line that took the time. */
import { rmSync } from 'node:fs';
import { expectQuietExit } from './support/expect-blocks.ts';
import { makeFolder, type Run, runApp, type SpanLine } from './support/run-app.ts';
import { judgeValid, test, VoidMeasurement } from './support/scenario.ts';
import { BLOCKING, buildSourceMapsApp } from './support/source-maps-app.ts';
import { judgeUnlessDelayed, runDelayOf, voidNaming } from './support/validity.ts';

/** Those of the blocks under the span of this name. */
function attributesUnder(run: Run, name: string): SpanLine['attributes'][] {
  const { spanId } = run.spans.find((span) => span.name === name) as SpanLine;
  return run.blocks
    .filter((block) => block.parentSpanId === spanId)
    .map(({ attributes }) => attributes);
}

/** Void where it does not pass and threads had no CPU, in one of the blocks or in all of the run. */
function judgeNames(run: Run, judge: () => void): void {
  const voids = run.blocks.map((block) => voidNaming(run, block));
  judgeValid([
    {
      label: 'names',
      voidBecause: voids.find((because) => because !== undefined),
      judge: () => judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, judge),
    },
  ]);
}

/** `waiting` is also what is reported of a thread that another process has kept from its CPU. */
function expectNative(attributes: SpanLine['attributes'] | undefined) {
  const cause = attributes?.['event_loop.block.cause'];
  if (cause === 'waiting') throw new VoidMeasurement('no CPU in a native call');
  expect(cause).toBe('native');
}

/** What the machine may take of the run: its blocks are of 150 ms and longer. */
const DELAY_MILLIS = 100;

const APP = expect.stringMatching(/apps\/names\.cjs$/);

test('a block is named by the place to change', async () => {
  const run = await runApp('names.cjs', {});
  expectQuietExit(run);
  judgeNames(run, () => expectPlaces(run));
});

function expectPlaces(run: Run): void {
  const [derived] = attributesUnder(run, 'checkThenDerive');
  expect(derived).toMatchObject({
    'code.function.name': 'deriveKey',
    'code.file.path': APP,
    'event_loop.block.native_call': 'crypto.scryptSync',
  });
  expectNative(derived);

  expect(attributesUnder(run, 'loadOrders')).toMatchObject([
    {
      'code.function.name': 'loadOrders',
      'code.file.path': APP,
      'event_loop.block.native_call': 'JSON.parse',
      'event_loop.block.native_call.size': expect.any(Number),
    },
  ]);

  expect(attributesUnder(run, 'runShell')).toMatchObject([
    {
      'code.function.name': 'runShell',
      'event_loop.block.native_call': 'child_process.execSync',
      'event_loop.block.cause': 'waiting',
    },
  ]);

  const [hashed] = attributesUnder(run, 'hashPassword');
  expect(hashed).toMatchObject({
    'code.function.name': 'hashPassword',
    'code.file.path': APP,
    'event_loop.block.native_call': 'bcrypt.hashSync',
  });
  expectNative(hashed);

  expect(attributesUnder(run, 'copyTable')).toMatchObject([
    { 'code.function.name': 'copyTable', 'code.file.path': APP },
  ]);

  const slowModule = run.notes['slow module'];
  expect(attributesUnder(run, 'loadLazily')).toMatchObject([
    {
      'code.function.name': 'loadLazily',
      'code.file.path': APP,
      'event_loop.block.loaded_module': slowModule,
    },
  ]);

  // In three blocks, each is named by what ran in it.
  const names = attributesUnder(run, 'ticks').map((block) => block['code.function.name']);
  expect(names).toEqual(['compute', 'compute', 'compute']);
}

describe('TypeScript, bundled and minified, its map beside it, without a flag', () => {
  let folder: string;
  beforeAll(() => {
    folder = makeFolder();
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('is named by the function, file and line of its source', async () => {
    const bundle = buildSourceMapsApp(folder);
    const run = await runApp('source-maps/service.cjs', { args: [bundle] });
    expectQuietExit(run);
    judgeNames(run, () =>
      expect(attributesUnder(run, 'request')).toMatchObject([
        {
          'code.function.name': BLOCKING.functionName,
          'code.file.path': BLOCKING.file,
          'code.line.number': BLOCKING.line,
        },
      ]),
    );
  });
});
