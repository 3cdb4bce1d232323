/** Where a developer is sent: to the application's own function, at the line that took the time. */
import { rmSync } from 'node:fs';
import { expectQuietExit } from './support/expect-blocks.ts';
import { makeFolder, type Run, runApp, type SpanLine } from './support/run-app.ts';
import { test, VoidMeasurement } from './support/scenario.ts';
import { BLOCKING, buildSourceMapsApp } from './support/source-maps-app.ts';
import { judgeUnlessDelayed, runDelayOf, voidNaming } from './support/validity.ts';

/** The blocks under the span of this name; not where the watchdog thread had no CPU. */
function blocksUnder(run: Run, name: string): SpanLine[] {
  const { spanId } = run.spans.find((span) => span.name === name) as SpanLine;
  const blocks = run.blocks.filter((block) => block.parentSpanId === spanId);
  for (const block of blocks) {
    const because = voidNaming(run, block);
    if (because !== undefined) throw new VoidMeasurement(because);
  }
  return blocks;
}

const attributesUnder = (run: Run, name: string) =>
  blocksUnder(run, name).map(({ attributes }) => attributes);

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
  judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () => expectPlaces(run));
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
    judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () =>
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
