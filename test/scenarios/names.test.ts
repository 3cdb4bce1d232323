/** Where a developer is sent: to the application's own function, at the line that took the time. */
import { rmSync } from 'node:fs';
import { expectQuietExit } from './support/expect-blocks.ts';
import { makeFolder, type Run, runApp, type SpanLine } from './support/run-app.ts';
import { judgeValid, type Measurement, test } from './support/scenario.ts';
import { BLOCKING, buildSourceMapsApp } from './support/source-maps-app.ts';
import { delayInGap, voidNaming } from './support/validity.ts';

/** What the machine may take of a place: its blocks are of 150 ms and longer. */
const DELAY_MILLIS = 50;

/** Judges the blocks under the span of this name; void where its threads had no CPU. */
function under(
  run: Run,
  name: string,
  judge: (blocks: SpanLine['attributes'][], waited: number) => void,
): Measurement {
  const span = run.spans.find((each) => each.name === name) as SpanLine;
  const blocks = run.blocks.filter(({ parentSpanId }) => parentSpanId === span.spanId);
  const waited = delayInGap(run, span, span.startMillis, span.endMillis);
  return {
    label: name,
    voidBecause:
      blocks.map((block) => voidNaming(run, block)).find((because) => because !== undefined) ??
      (waited > DELAY_MILLIS ? `waited ${waited.toFixed(1)} ms for a CPU` : undefined),
    judge: () =>
      judge(
        blocks.map(({ attributes }) => attributes),
        waited,
      ),
  };
}

/** `waiting` is also the cause of a block whose thread was kept from its CPU. */
const nativeUnless = (waited: number) =>
  waited > DELAY_MILLIS ? expect.stringMatching(/^(native|waiting)$/) : 'native';

const APP = expect.stringMatching(/apps\/names\.cjs$/);

test('a block is named by the place to change', async () => {
  const run = await runApp('names.cjs', {});
  expectQuietExit(run);
  judgeValid([
    under(run, 'checkThenDerive', ([block], waited) =>
      expect(block).toMatchObject({
        'code.function.name': 'deriveKey',
        'code.file.path': APP,
        'event_loop.block.native_call': 'crypto.scryptSync',
        'event_loop.block.cause': nativeUnless(waited),
      }),
    ),
    under(run, 'loadOrders', (blocks) =>
      expect(blocks).toMatchObject([
        {
          'code.function.name': 'loadOrders',
          'code.file.path': APP,
          'event_loop.block.native_call': 'JSON.parse',
          'event_loop.block.native_call.size': expect.any(Number),
        },
      ]),
    ),
    under(run, 'runShell', (blocks) =>
      expect(blocks).toMatchObject([
        {
          'code.function.name': 'runShell',
          'event_loop.block.native_call': 'child_process.execSync',
          'event_loop.block.cause': 'waiting',
        },
      ]),
    ),
    under(run, 'hashPassword', ([block], waited) =>
      expect(block).toMatchObject({
        'code.function.name': 'hashPassword',
        'code.file.path': APP,
        'event_loop.block.native_call': 'bcrypt.hashSync',
        'event_loop.block.cause': nativeUnless(waited),
      }),
    ),
    under(run, 'copyTable', (blocks) =>
      expect(blocks).toMatchObject([{ 'code.function.name': 'copyTable', 'code.file.path': APP }]),
    ),
    under(run, 'loadLazily', (blocks) =>
      expect(blocks).toMatchObject([
        {
          'code.function.name': 'loadLazily',
          'code.file.path': APP,
          'event_loop.block.loaded_module': run.notes['slow module'],
        },
      ]),
    ),
    // In three blocks, each is named by what ran in it.
    under(run, 'ticks', (blocks) =>
      expect(blocks.map((block) => block['code.function.name'])).toEqual([
        'compute',
        'compute',
        'compute',
      ]),
    ),
  ]);
});

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
    judgeValid([
      under(run, 'request', (blocks) =>
        expect(blocks).toMatchObject([
          {
            'code.function.name': BLOCKING.functionName,
            'code.file.path': BLOCKING.file,
            'code.line.number': BLOCKING.line,
          },
        ]),
      ),
    ]);
  });
});
