/**
 * What names need of files, another thread reads: large files would stop the application, right
 * after the block that it is told about.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expectQuietExit } from './support/expect-blocks.ts';
import { appFile, makeFolder, type Run, runApp } from './support/run-app.ts';
import { judgeValid, test } from './support/scenario.ts';
import { voidNaming } from './support/validity.ts';

/** What the end of a file is: there may be a comment that names its map. */
const END_BYTES = 2048;

/** The thread is waited for so long, as `Explainer` says, less what else a report takes. */
const MAX_READ_MILLIS = 900;

const LINES = '// a line that does nothing\n'.repeat(30_000);
const FILES = {
  'node_modules/compose/package.json': JSON.stringify({ name: 'compose' }),
  'node_modules/compose/index.js': `${LINES}module.exports = (layers) => (ctx) => {
      const layer = (i) => layers[i](ctx, () => layer(i + 1));
      layer(0);
    };\n`,
  'node_modules/outlines/package.json': JSON.stringify({ name: 'outlines' }),
  'node_modules/outlines/index.js': `${LINES}
    function outline(total) {
      for (let i = 0; i < 100_000; i++) total = (total * 31 + i) % 1_000_003;
      return total;
    }
    exports.serveOutline = (ctx) => {
      for (let total = 0; ctx.goesOn(); ) total = outline(total);
      ctx.done();
    };\n`,
  'app.js': `${LINES}const compose = require(${JSON.stringify('compose')});
    const { serveOutline } = require(${JSON.stringify('outlines')});
    function countVisits(ctx, next) {
      ctx.visits = 1;
      return next();
    }
    module.exports = (ctx) => compose([countVisits, serveOutline]).bind(undefined, ctx);\n`,
} as const;

describe.each([
  ['without a map', '', []],
  ['with --enable-source-maps', '', ['--enable-source-maps']],
  ['with a map', '//# sourceMappingURL=app.js.map\n', []],
] as const)('an application of large files, %s', (_how, comment, nodeArgs) => {
  let folder: string;
  beforeAll(() => {
    folder = makeFolder();
    for (const [name, text] of Object.entries(FILES)) {
      mkdirSync(path.join(folder, path.dirname(name)), { recursive: true });
      writeFileSync(path.join(folder, name), name === 'app.js' ? text + comment : text);
    }
    const lines = FILES['app.js'].split('\n').length;
    const map = {
      version: 3,
      sources: ['app.ts'],
      names: [],
      mappings: `AAAA${';AACA'.repeat(lines)}`,
    };
    if (comment !== '') writeFileSync(path.join(folder, 'app.js.map'), JSON.stringify(map));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('the block is named past its middleware, and its thread reads no file', async () => {
    const preload = appFile('support/count-reads.cjs');
    const run = await runApp('own-reads.cjs', {
      args: [folder],
      nodeArgs: ['--require', preload, ...nodeArgs],
    });
    expectQuietExit(run);
    const [, json = ''] = /^read (.*)$/m.exec(run.stdout) ?? [];
    const ofApp = Object.entries(JSON.parse(json)).filter(([file]) => file.startsWith(folder));
    expect(ofApp.filter(([, bytes]) => (bytes as number) > END_BYTES)).toEqual([]);
    judgeValid([
      {
        label: 'block',
        voidBecause:
          voidReading(run) ?? run.blocks.map((block) => voidNaming(run, block)).find(Boolean),
        judge: () =>
          expect(run.blocks.map(({ attributes }) => attributes['code.function.name'])).toEqual([
            'exports.serveOutline',
          ]),
      },
    ]);
  });
});

/** Beside other processes, the thread that reads may be given up before it has answered. */
function voidReading(run: Run): string | undefined {
  const millis = Number(run.notes['reportedAfterMillis']);
  return millis > MAX_READ_MILLIS ? `reported after ${millis.toFixed(0)} ms` : undefined;
}
