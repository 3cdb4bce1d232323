/** What blocked most: adds up by the place to change, in bounded memory. */

import { keyOf as keyOfPlace } from '../code/key.ts';
import type { EventLoopBlock } from '../types.ts';
import { codeAt, duration, type Paint } from './block-line.ts';

/** Functions that are kept apart; the blocks of all others are one line. */
const MAX_FUNCTIONS = 1000;
const SHOWN = 10;

interface Blocker {
  readonly first: EventLoopBlock;
  blocks: number;
  millis: number;
  longestMillis: number;
}

export class Summary {
  readonly #blockers = new Map<string, Blocker>();
  #blocks = 0;
  #millis = 0;

  add(block: EventLoopBlock): void {
    this.#blocks++;
    this.#millis += block.durationMillis;
    const key = keyOf(block);
    const bounded = this.#blockers.has(key) || this.#blockers.size < MAX_FUNCTIONS ? key : '';
    let blocker = this.#blockers.get(bounded);
    if (blocker === undefined) {
      blocker = { first: block, blocks: 0, millis: 0, longestMillis: 0 };
      this.#blockers.set(bounded, blocker);
    }
    blocker.blocks++;
    blocker.millis += block.durationMillis;
    blocker.longestMillis = Math.max(blocker.longestMillis, block.durationMillis);
  }

  /** The first line counts all blocks, the others are the functions that took most. */
  lines(elapsedMillis: number, cwd: string, paint: Paint): string[] {
    if (this.#blocks === 0) return [`event-loop-blocked: never, in ${duration(elapsedMillis)}`];
    const share = ((100 * this.#millis) / Math.max(elapsedMillis, this.#millis)).toFixed(1);
    const rows = [...this.#blockers.entries()]
      .sort(([, a], [, b]) => b.millis - a.millis)
      .slice(0, SHOWN)
      .map(([key, blocker]) => ({
        total: duration(blocker.millis),
        blocks: count(blocker.blocks),
        longest: duration(blocker.longestMillis),
        place: placeOf(key, blocker.first, cwd, paint),
      }));
    const width = (column: 'total' | 'blocks' | 'longest') =>
      Math.max(...rows.map((row) => row[column].length));
    return [
      `event-loop-blocked: ${count(this.#blocks)}, ` +
        `${duration(this.#millis)} of ${duration(elapsedMillis)} (${share} %)`,
      ...rows.map(
        (row) =>
          `  ${row.total.padStart(width('total'))} in ${row.blocks.padStart(width('blocks'))}, ` +
          `longest ${row.longest.padStart(width('longest'))}: ${row.place}`,
      ),
    ];
  }
}

const count = (blocks: number) => `${blocks} block${blocks === 1 ? '' : 's'}`;

function keyOf({ code }: EventLoopBlock): string {
  return code === undefined ? '?' : keyOfPlace(code);
}

function placeOf(key: string, block: EventLoopBlock, cwd: string, paint: Paint): string {
  if (key === '') return 'other functions';
  return block.code === undefined ? 'unknown code' : codeAt(block.code, cwd, paint);
}
