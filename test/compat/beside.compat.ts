/**
 * Other tools that watch the same process: it goes on as without this package, its blocks are
 * found, and the tool has what it is there for.
 */
import path from 'node:path';
import { BLOCK_SPAN } from '../../tools/otlp.cjs';
import { type Run, runApp, type SpanLine, type Truth } from '../scenarios/support/run-app.ts';
import { judgeValid, sharedRun, test } from '../scenarios/support/scenario.ts';
import {
  judgeUnlessDelayed,
  runDelayOf,
  voidNaming,
  voidTruth,
} from '../scenarios/support/validity.ts';
import { OTHER_TOOLS, type OtherTool } from './support/other-tools.ts';
import { type Selected, selectedFor } from './support/selection.ts';

const CONSOLE = ['--import', 'opentelemetry-instrumentation-event-loop/console'];
const BLOCKS = 30;
/** As many requests are enough to see what the tool prints by itself. */
const BLOCKS_ALONE = 3;
/**
 * A block may be longer by what the tool does in the same callback, and shorter by a time without a
 * CPU that is too short to make the measurement void.
 */
const LENGTH_TOLERANCE_MILLIS = 30;
const OVERLAP_MILLIS = 8;
/** What the machine may take of a run without keeping a tool from what it does in time. */
const DELAY_MILLIS = 500;

/** Of `console.schema.json`. */
interface ConsoleLine {
  type: string;
  startTimeMillis: number;
  durationMillis: number;
  gcTimeMillis?: number;
  code?: { functionName: string; file?: string };
}

interface BesideRun extends Run {
  /** What has come too seldom. */
  missing: string[];
  /** The line of this package on each block, as the span that it would be. */
  blocks: SpanLine[];
  /** What else is on stderr. */
  rest: string;
}

async function run(choice: Selected, isAlone = false): Promise<BesideRun> {
  const { subject, folder, node, problem } = choice;
  if (problem !== undefined) throw new Error(problem);
  const tool = await OTHER_TOOLS[subject.name]?.(folder);
  if (tool === undefined) throw new Error(`nothing receives what ${subject.name} sends`);
  const cwd = path.join(folder, 'app');
  try {
    const ended = await runApp(subject.name, {
      node,
      nodeArgs: isAlone ? [] : CONSOLE,
      file: path.join(cwd, subject.app),
      args: [`${isAlone ? BLOCKS_ALONE : BLOCKS}`],
      cwd,
      env: { ...tool.env, OTEL_INSTRUMENTATION_EVENT_LOOP_CONSOLE: 'json', ...subject.env },
    });
    const lines = ended.stderr.split('\n');
    const own = lines.filter((line) => line.startsWith('{"type":"event-loop-'));
    return {
      ...ended,
      missing: missingOf(tool),
      blocks: own.map((line) => JSON.parse(line)).flatMap((line) => blockIn(line, ended)),
      rest: lines
        .filter((line) => !own.includes(line))
        .map((line) => line.replace(/(node|127\.0\.0\.1):\d+(\/[0-9a-f-]+)?/, '$1'))
        .join('\n'),
    };
  } finally {
    tool.close();
  }
}

const missingOf = (tool: OtherTool) =>
  Object.entries(tool.counts())
    .filter(([what, count]) => count < (tool.least[what] as number))
    .map(([what, count]) => `${count} ${what}, at least ${tool.least[what]} were to come`);

function blockIn(line: ConsoleLine, { truths }: Run): SpanLine[] {
  if (line.type !== 'event-loop-block') return [];
  const { startTimeMillis, durationMillis, gcTimeMillis = 0, code } = line;
  const { pid = 0, thread = 0 } = truths[0] ?? {};
  const block: SpanLine = {
    pid,
    thread,
    name: BLOCK_SPAN,
    kind: 0,
    traceId: '',
    spanId: '',
    startMillis: startTimeMillis,
    endMillis: startTimeMillis + durationMillis,
    durationMillis,
    attributes: {
      'event_loop.block.gc_time': gcTimeMillis / 1e3,
      'code.function.name': code?.functionName ?? '',
      'code.file.path': code?.file ?? '',
    },
    links: [],
    status: { code: 0 },
    scope: '',
  };
  return [block];
}

/** Those that are the block which the app measured, or a part of it. */
const blocksOf = ({ blocks }: Run, { startMillis, endMillis }: Truth) =>
  blocks.filter(
    (block) =>
      Math.min(block.endMillis, endMillis) - Math.max(block.startMillis, startMillis) >
      OVERLAP_MILLIS,
  );

function expectLength(found: SpanLine[], truth: Truth): void {
  const lengths = found.map(({ durationMillis }) => durationMillis);
  expect(lengths).toHaveLength(1);
  const difference = Math.abs((lengths[0] as number) - truth.durationMillis);
  expect(difference).toBeLessThan(LENGTH_TOLERANCE_MILLIS);
}

describe.each(selectedFor('beside'))('$subject.name', (choice) => {
  const check = sharedRun(() => run(choice));

  test('the process goes on and ends as without the package', async () => {
    const alone = await run(choice, true);
    expect([alone.code, alone.signal, alone.stdout]).toEqual([0, null, 'alive\n']);
    await check(({ code, signal, stdout, rest }) =>
      expect({ code, signal, stdout, rest }).toEqual({
        code: alone.code,
        signal: alone.signal,
        stdout: alone.stdout,
        rest: alone.rest,
      }),
    );
  });

  test('each block is found once, with its length and its function', () =>
    check((ended) => {
      expect(ended.truths).toHaveLength(BLOCKS);
      judgeValid(
        ended.truths.flatMap((truth) => {
          const found = blocksOf(ended, truth);
          const voidLength = voidTruth(ended, truth, found);
          return [
            {
              label: truth.label,
              voidBecause: voidLength,
              judge: () => expectLength(found, truth),
            },
            {
              label: `the function of ${truth.label}`,
              voidBecause: voidLength ?? voidNaming(ended, truth),
              judge: () =>
                expect(found.map(({ attributes }) => attributes)).toMatchObject([
                  {
                    'code.function.name': 'hashOrders',
                    'code.file.path': path.join(choice.folder, 'app/support/thirty-blocks.cjs'),
                  },
                ]),
            },
          ];
        }),
      );
    }));

  test('the other tool has what it is there for', () =>
    check((ended) => {
      judgeUnlessDelayed(runDelayOf(ended), DELAY_MILLIS, () => expect(ended.missing).toEqual([]));
    }));
});
