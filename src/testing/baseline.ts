/**
 * A file of known blocks, for `expectNoBlocks`: which places may block in which test, and for how
 * long. Promises: text that is sorted and does not depend on the machine's folders; updates of
 * several processes at once lose nothing, and a reader never sees half a file.
 */
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, relative, resolve, sep } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { threadId } from 'node:worker_threads';
import { printable } from '../console/block-line.ts';
import type { FunctionTime } from '../name/describe-code.ts';
import { type KeyedPlace, keyOf } from '../name/key.ts';
import { toPath } from '../support/file-url.ts';
import type { EventLoopBlock } from '../types.ts';

const VERSION = 2;
/** Longer than known is what takes more than this many times as long. */
const TOLERANCE = 2;
/** A function with less of a block than this is added to the file by no update. */
const MIN_SHARE = 0.05;
/** Held for a few file operations: an older one is of a process that was killed. */
const STALE_LOCK_MILLIS = 10_000;
const MAX_LOCK_WAIT_MILLIS = 30_000;
const LOCK_POLL_MILLIS = 10;

/** A block, and all functions that another run of the same code could name it by. */
export interface RecordedBlock {
  readonly block: EventLoopBlock;
  readonly functions: readonly FunctionTime[];
  /** How long it waited for a CPU, at least: other processes make no block longer. */
  readonly runDelayMillis: number;
}

/** By place, the longest block that it had a part in, in milliseconds. */
export type Places = Map<string, number>;
/** The same, and the largest share that it had in one of its blocks. */
export type SeenPlaces = Map<string, { readonly millis: number; readonly share: number }>;
/** Places by test. */
type Tests = Map<string, Places>;

export class Baseline {
  readonly path: string;
  readonly #folder: string;

  constructor(file: string | URL) {
    this.path = typeof file === 'string' ? resolve(file) : fileURLToPath(file);
    this.#folder = dirname(this.path);
  }

  /** `hashRow (src/report.js)`: the same on every machine, and wherever in the function it was. */
  placeOf(code: KeyedPlace | undefined): string {
    if (code === undefined) return 'unknown code';
    const { file, ...place } = code;
    const short = file === undefined ? {} : { file: this.relative(toPath(file)) };
    const [name = '', position = ''] = keyOf({ ...place, ...short }).split('\n');
    return printable(position === '' ? name : `${name} (${position})`, Number.POSITIVE_INFINITY);
  }

  /** Relative to the folder of the baseline; a file of a package to that of the packages. */
  relative(file: string): string {
    const path = relative(this.#folder, file).split(sep).join('/');
    return path.slice(Math.max(0, path.lastIndexOf('node_modules/')));
  }

  /** @throws Error where the file is there and is no baseline */
  known(test: string): Places {
    return this.#read().get(test) ?? new Map();
  }

  /**
   * Puts what was seen in a test into the file. One length of a place replaces another only where
   * it is longer, or less than half: runs that differ a little make no difference in the file.
   * @param isWhole what was not seen is no longer known
   */
  async update(test: string, seen: SeenPlaces, isWhole: boolean): Promise<void> {
    const unlock = await this.#lock();
    try {
      const tests = this.#read();
      const before = tests.get(test) ?? new Map<string, number>();
      const after: Places = new Map(isWhole ? [] : before);
      for (const [place, { millis, share }] of seen) {
        if (share < MIN_SHARE && !before.has(place)) continue;
        const length = Math.ceil(millis);
        const known = before.get(place) ?? 0;
        after.set(place, known >= length && known <= TOLERANCE * length ? known : length);
      }
      if (after.size === 0) tests.delete(test);
      else tests.set(test, after);
      this.#write(tests);
    } finally {
      unlock();
    }
  }

  #read(): Tests {
    const text = readIfThere(this.path);
    if (text === undefined) return new Map();
    try {
      return parse(text);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`${this.path} is no baseline of blocks: ${reason}`);
    }
  }

  #write(tests: Tests): void {
    const text = format(tests);
    if (readIfThere(this.path) === text) return;
    if (tests.size === 0 && readIfThere(this.path) === undefined) return;
    const temporary = `${this.path}.${process.pid}.${threadId}.tmp`;
    try {
      writeFileSync(temporary, text);
      renameSync(temporary, this.path);
    } finally {
      rmSync(temporary, { force: true });
    }
  }

  /** @returns undoes it */
  async #lock(): Promise<() => void> {
    mkdirSync(this.#folder, { recursive: true });
    const lock = `${this.path}.lock`;
    const giveUpAt = performance.now() + MAX_LOCK_WAIT_MILLIS;
    for (;;) {
      try {
        closeSync(openSync(lock, 'wx'));
        return () => rmSync(lock, { force: true });
      } catch (error) {
        if (!isLocked(error) || performance.now() > giveUpAt) throw error;
      }
      removeStale(lock);
      await delay(LOCK_POLL_MILLIS * (0.5 + Math.random()));
    }
  }
}

export const isLonger = (millis: number, knownMillis: number) => millis > TOLERANCE * knownMillis;

/** One place a line, all in order: versions of it can be merged. */
function format(tests: Tests): string {
  const sorted = <Value>(entries: Iterable<[string, Value]>) =>
    [...entries].sort(([a], [b]) => (a < b ? -1 : 1));
  const blocks = sorted(tests).map(([test, places]) => [test, Object.fromEntries(sorted(places))]);
  return `${JSON.stringify({ version: VERSION, blocks: Object.fromEntries(blocks) }, null, 2)}\n`;
}

/** @throws Error that says what is wrong with it */
function parse(text: string): Tests {
  const { version, blocks } = asObject(JSON.parse(text));
  if (version !== VERSION)
    throw new Error(`its version is not ${VERSION}; remove it, and write it again`);
  return new Map(
    Object.entries(asObject(blocks)).map(([test, places]) => [
      test,
      new Map(
        Object.entries(asObject(places)).map(([place, millis]) => {
          if (typeof millis !== 'number') throw new Error(`the length of ${place} is no number`);
          return [place, millis];
        }),
      ),
    ]),
  );
}

function asObject(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('an object is missing');
  return value as Record<string, unknown>;
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Windows says EPERM while a file is being removed. */
const isLocked = (error: unknown) => hasCode(error, 'EEXIST') || hasCode(error, 'EPERM');

const hasCode = (error: unknown, code: string) =>
  (error as { code?: unknown } | null)?.code === code;

/** Renamed first: of two processes that find it stale, one removes it, and not a new one. */
function removeStale(lock: string): void {
  try {
    if (Date.now() - statSync(lock).mtimeMs < STALE_LOCK_MILLIS) return;
    const stale = `${lock}.${process.pid}.${threadId}`;
    renameSync(lock, stale);
    rmSync(stale, { force: true });
  } catch {
    // Gone meanwhile.
  }
}

/** How messages name the file: relative to the working directory where it lies below. */
export function shown(path: string): string {
  const fromHere = relative(process.cwd(), path);
  return fromHere.startsWith('..') ? basename(path) : fromHere.split(sep).join('/');
}
