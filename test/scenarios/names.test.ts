/** Where a developer is sent: to the application's own function, at the line that took the time. */
import { rmSync } from 'node:fs';
import { expectQuietExit } from './support/expect-blocks.ts';
import { makeFolder, type Run, runApp, type SpanLine } from './support/run-app.ts';
import { judgeValid, type Measurement, test } from './support/scenario.ts';
import { BLOCKING, buildSourceMapsApp } from './support/source-maps-app.ts';
import { delayInGap, voidNaming } from './support/validity.ts';

/** What the machine may take of a place: its blocks are of 150 ms and longer. */
const DELAY_MILLIS = 50;

/** Judges the blocks under the span of this name; void if its threads had no CPU. */
function under(
  run: Run,
  name: string,
  judge: (blocks: SpanLine['attributes'][], waitedShare: number) => void,
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
        waited / span.durationMillis,
      ),
  };
}

const APP = expect.stringMatching(/apps\/names\.cjs$/);

/**
 * `waiting` is the largest part of a block from a third on: that of a thread without a CPU, too.
 */
const MIN_WAITING = 0.3;
const underNative = (run: Run, name: string, functionName: string, call: string) =>
  under(run, name, ([block], waitedShare) =>
    expect(block).toMatchObject({
      'code.function.name': functionName,
      'code.file.path': APP,
      'event_loop.block.native_call': call,
      'event_loop.block.cause':
        waitedShare > MIN_WAITING ? expect.stringMatching(/^(native|waiting)$/) : 'native',
    }),
  );

test('a block is named by the place to change', async () => {
  const run = await runApp('names.cjs', {});
  expectQuietExit(run);
  judgeValid([
    underNative(run, 'checkThenDerive', 'deriveKey', 'crypto.scryptSync'),
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
    underNative(run, 'hashPassword', 'hashPassword', 'bcrypt.hashSync'),
    underNative(run, 'transpile', 'transpile', 'swc.transformSync'),
    ...['money', 'localDate', 'price'].map((name) =>
      under(run, name, (blocks) =>
        expect(blocks).toMatchObject([{ 'code.function.name': name, 'code.file.path': APP }]),
      ),
    ),
    under(run, 'handlerBelow', (blocks) =>
      expect(blocks).toMatchObject([
        { 'code.function.name': 'renderReport', 'code.file.path': APP },
      ]),
    ),
    ...['packageBelow', 'packageLater'].map((name) =>
      under(run, name, (blocks) =>
        expect(blocks).toMatchObject([
          { 'code.file.path': expect.stringMatching(/node_modules\/outlines\/index\.js$/) },
        ]),
      ),
    ),
    under(run, 'packageAwaits', (blocks) =>
      expect(blocks).toMatchObject([
        { 'code.file.path': expect.stringMatching(/node_modules\/reports\/index\.js$/) },
      ]),
    ),
    under(run, 'copyTable', (blocks) =>
      expect(blocks).toMatchObject([{ 'code.function.name': 'copyTable', 'code.file.path': APP }]),
    ),
    under(run, 'importRows', (blocks) =>
      expect(blocks).toMatchObject([{ 'code.function.name': 'importRows', 'code.file.path': APP }]),
    ),
    under(run, 'sumCached', (blocks) =>
      expect(blocks).toMatchObject(
        Array(4).fill({
          'event_loop.block.kind': 'microtasks',
          'code.function.name': expect.stringMatching(/^(sumPrices|get)$/),
          'code.file.path': APP,
        }),
      ),
    ),
    under(run, 'evaluated', (blocks) =>
      expect(blocks).toMatchObject([{ 'code.function.name': 'userScript' }]),
    ),
    under(run, 'sumTable', (blocks) =>
      expect(blocks).toMatchObject([{ 'code.function.name': 'sumRow', 'code.file.path': APP }]),
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
    under(run, 'wasmReport', (blocks) =>
      expect(blocks).toMatchObject([
        {
          'code.function.name': 'wasmReport',
          'code.file.path': APP,
          'event_loop.block.native_call': 'WebAssembly',
          'event_loop.block.top_functions': expect.stringContaining('wasm-function[0] '),
        },
      ]),
    ),
    under(run, 'agentAround', (blocks) =>
      expect(blocks).toMatchObject([{ 'code.function.name': 'compute' }]),
    ),
    // An exporter's block is in metrics only.
    under(run, 'exported', (blocks) => expect(blocks).toEqual([])),
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
