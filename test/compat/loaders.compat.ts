/**
 * Loaders that compile an application while it is loaded: a block in it has the line of its source,
 * or none, in its span and in the report of the ongoing block. Which of the two is said here.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { OtlpReceiver, type ReceivedSpan } from '../../tools/otlp-receiver.cjs';
import { makeFolder, type Run, runApp } from '../scenarios/support/run-app.ts';
import { sharedRun, test } from '../scenarios/support/scenario.ts';
import { judgeUnlessDelayed, runDelayOf } from '../scenarios/support/validity.ts';
import { type Selected, selectedFor } from './support/selection.ts';

/** What the machine may take of a run without keeping the watchdog thread from what blocks. */
const DELAY_MILLIS = 50;
const POLL_MILLIS = 10;

interface LoaderRun extends Run {
  /** The reports of the block: while it lasted, and when it had ended. */
  ongoing: ReceivedSpan[];
  ended: ReceivedSpan[];
}

const isOngoing = ({ attributes }: ReceivedSpan) => 'event_loop.block.unfinished' in attributes;

async function runLoader({ subject, folder, node, problem }: Selected): Promise<LoaderRun> {
  if (problem !== undefined) throw new Error(problem);
  const receiver = await OtlpReceiver.listen();
  const temporary = makeFolder();
  /** A blocked app cannot be sent a message. It goes on when there is this file. */
  const endOfBlock = path.join(temporary, 'end');
  const cwd = path.join(folder, 'app');
  let isOver = false;
  const blocks = () => receiver.spans.filter(({ name }) => name === 'event-loop-blocked');
  try {
    const run = await runApp(
      subject.name,
      {
        node,
        nodeArgs: subject.nodeArgs ?? [],
        file: path.join(cwd, subject.app),
        args: [endOfBlock],
        cwd,
        env: receiver.env,
      },
      async () => {
        while (!isOver && !blocks().some(isOngoing)) await wait(POLL_MILLIS);
        writeFileSync(endOfBlock, '');
      },
    );
    return {
      ...run,
      ongoing: blocks().filter(isOngoing),
      ended: blocks().filter((span) => !isOngoing(span)),
    };
  } finally {
    isOver = true;
    receiver.close();
    rmSync(temporary, { recursive: true });
  }
}

describe.each(selectedFor('loaders'))('$subject.name', (choice) => {
  const check = sharedRun(() => runLoader(choice));
  const app = path.join(choice.folder, 'app');
  const orders = path.join(app, 'orders.ts');

  /** Each position in the application is one of a line that runs in the block. */
  function expectLinesOfSource(stackTrace: string): void {
    for (const [, file = '', line] of stackTrace.matchAll(/\(?((?:file:|\/)[^():]+\.ts):(\d+)/g)) {
      const source = path.join(app, path.basename(file));
      const text = readFileSync(source, 'utf8').split('\n')[Number(line) - 1];
      expect(`${file}:${line} ${text}`).toMatch(/\/\/ (BLOCKS|CALLS)$/);
    }
  }

  /** A busy machine may keep a block from being sampled, and makes no line a wrong one. */
  function expectCode(run: Run, [span, ...others]: ReceivedSpan[], hasLine: boolean): void {
    expect(others).toEqual([]);
    const attributes = span?.attributes ?? {};
    const stackTrace = String(attributes['code.stacktrace']);
    expectLinesOfSource(stackTrace);
    const line = attributes['code.line.number'];
    if (line !== undefined) expectLinesOfSource(`${attributes['code.file.path']}:${line}`);
    judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () => {
      expect(attributes).toMatchObject({
        'code.function.name': 'hashOrders',
        'code.file.path': orders,
      });
      expect(line !== undefined).toBe(hasLine);
      expect(stackTrace).toContain(`at hashOrders (${orders}${hasLine ? `:${line}:` : ')'}`);
    });
  }

  test('the span of a block has the line of the source', () =>
    check((run) => expectCode(run, run.ended, true)));

  test('the report of the ongoing block has no line of the compiled code', () =>
    check((run) => {
      expectCode(run, run.ongoing, false);
      judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () =>
        expect(run.stderr).toContain(` not ended: hashOrders (${orders}), trace `),
      );
    }));

  test('the process ends by itself', () =>
    check(({ code, signal }) => expect({ code, signal }).toEqual({ code: 0, signal: null })));
});
