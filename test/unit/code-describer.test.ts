/**
 * Which frames are looked up in source maps: whatever a bundler may have put the application in.
 */
import type { WeightedSample } from '../../src/block.ts';
import { createOriginOf } from '../../src/name/in-app.ts';
import { CodeDescriber } from '../../src/report/code-describer.ts';
import type { GeneratedPosition } from '../../src/source-maps/position.ts';
import { Guard } from '../../src/support/guard.ts';
import { frame, sample } from './name/support/stacks.ts';

const CHUNKS = '/app/.next/server/chunks/ssr';
const PAGE_CHUNK = `${CHUNKS}/node_modules_next_dist_esm_build_templates_pages_1a2b.js`;

test("a page in a chunk that is called after Next's template is the application's", () => {
  const asked: GeneratedPosition[] = [];
  const describer = new CodeDescriber(
    {
      originOf: createOriginOf(),
      cwd: '/app',
      gcWithin: () => 0,
      lookUp: (positions, done) => {
        asked.push(...positions);
        done(
          positions.map(({ file, line, column }) =>
            file === PAGE_CHUNK
              ? { file: '/app/lib/report.js', line: line + 3, column, functionName: 'summarize' }
              : undefined,
          ),
        );
      },
    },
    new Guard({ log: () => {} }),
  );
  const frames = [
    frame('a', PAGE_CHUNK, 1),
    frame('trace', '/app/node_modules/next/dist/server/lib/trace/tracer.js', 196),
    frame('start', `${CHUNKS}/[root-of-the-server]__1a2b._.js`, 1),
  ];
  const samples = [{ ...sample(60, 60, ...frames), weight: 1 }] as unknown as WeightedSample[];
  const done = jest.fn();
  describer.describeInSource({ samples, start: 0, end: 100 } as never, done);

  expect(done).toHaveBeenCalledTimes(1);
  expect(done.mock.calls[0][0].code).toMatchObject({
    functionName: 'summarize',
    file: '/app/lib/report.js',
    line: 4,
  });
  expect(new Set(asked.map(({ file }) => file))).toEqual(
    new Set([PAGE_CHUNK, `${CHUNKS}/[root-of-the-server]__1a2b._.js`]),
  );
});
