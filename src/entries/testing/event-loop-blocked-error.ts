/** The error that a test fails with. */
import { fileURLToPath } from 'node:url';
import { codeAt, PLAIN } from '../../core/emit/block-line.ts';
import { waitsOf } from '../../outputs/summary/requests.ts';
import { printable } from '../../support/escape.ts';
import { duration } from '../../support/numbers.ts';
import type { EventLoopBlock } from '../../types.ts';

/** Blocks that a message shows, the longest first. */
const SHOWN = 5;
/** Frames of the stack below each of them. */
const FRAMES = 6;
const MAX_FRAME_LENGTH = 500;

const UNKNOWN_CODE = 'unknown code';
/** The form that URLs and paths have in common. */
const OWN_FILE = fileURLToPath(import.meta.url).replaceAll('\\', '/');

/** The event loop was blocked, and a test did not want it to be. */
export class EventLoopBlockedError extends Error {
  override readonly name = 'EventLoopBlockedError';

  /**
   * @param blocks in the order in which they happened
   * @param thresholdMillis the shortest that counts
   * @param callSite where the test asked, for the stack of this error; its own by default
   * @param judgedMillis the length of a block that the threshold was compared with
   */
  constructor(
    readonly blocks: readonly EventLoopBlock[],
    thresholdMillis: number,
    callSite?: Error,
    judgedMillis = ({ durationMillis }: EventLoopBlock) => durationMillis,
  ) {
    super(messageOf(blocks, thresholdMillis, judgedMillis));
    const frames = callSite?.stack?.split('\n').slice(1).join('\n');
    if (frames) this.stack = `${this.name}: ${this.message}\n${frames}`;
  }
}

function messageOf(
  blocks: readonly EventLoopBlock[],
  thresholdMillis: number,
  judgedMillis: (block: EventLoopBlock) => number,
): string {
  const total = blocks.reduce((sum, { durationMillis }) => sum + durationMillis, 0);
  const times = blocks.length === 1 ? 'once' : `${blocks.length} times`;
  const sum = blocks.length === 1 ? '' : `, ${duration(total)} in all`;
  const shown = [...blocks].sort((a, b) => b.durationMillis - a.durationMillis).slice(0, SHOWN);
  const hidden = blocks.length - shown.length;
  return [
    `the event loop was blocked ${times} for ${duration(thresholdMillis)} or longer${sum}`,
    '',
    ...shown.flatMap((block) => paragraphOf(block, judgedMillis(block))),
    ...(hidden > 0 ? [`  and ${hidden} shorter`, ''] : []),
  ]
    .join('\n')
    .trimEnd();
}

function paragraphOf(block: EventLoopBlock, judgedMillis: number): string[] {
  const { code, cpuTimeMillis, gcTimeMillis } = block;
  const judged = duration(judgedMillis);
  const times = [
    judged === duration(block.durationMillis)
      ? 'judged by its wall time'
      : `judged as ${judged} without the waits for a CPU`,
    cpuTimeMillis !== undefined && `${duration(cpuTimeMillis)} of CPU`,
    gcTimeMillis !== undefined &&
      gcTimeMillis >= 1 &&
      `${duration(gcTimeMillis)} of garbage collection`,
    waitsOf(block),
  ].filter((time) => time !== false && time !== undefined);
  const what = [duration(block.durationMillis), block.kind]
    .filter((part) => part !== undefined)
    .join(' ');
  const where = code === undefined ? UNKNOWN_CODE : codeAt(code, process.cwd(), PLAIN);
  const frames = code === undefined ? [] : framesOfTest(code.stackTrace);
  return [
    `  ${[`${what}: ${where}`, ...times].join(', ')}`,
    ...frames.slice(0, FRAMES).map((frame) => `      ${printable(frame, MAX_FRAME_LENGTH)}`),
    '',
  ];
}

/** Without those below the function that was tested: this module and what called it. */
export function framesOfTest(stackTrace: string): string[] {
  const frames = stackTrace.split('\n').map((frame) => frame.trim());
  const own = frames.findIndex((frame) => frame.includes(OWN_FILE));
  return own === -1 ? frames : frames.slice(0, own);
}
