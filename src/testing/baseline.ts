/**
 * A file of known blocks: which places may block in which test, and for how long.
 *
 * Guarantees: text that is sorted and does not depend on the machine's folders; updates of several
 * processes at once lose nothing, and a reader never sees half a file.
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
import { type KeyedPlace, keyOf } from '../name/key.ts';
import { printable } from '../report/block-line.ts';
import { toPath } from '../support/file-url.ts';

const VERSION = 2;
/** A block is longer than known if it takes more than this many times as long. */
const TOLERANCE = 2;
/** An update adds no function that had less than this share of a block. */
const MIN_SHARE = 0.05;
/** A lock is held for a few file operations: an older one is of a process that was killed. */
const STALE_LOCK_MILLIS = 10_000;
const MAX_LOCK_WAIT_MILLIS = 30_000;
const LOCK_POLL_MILLIS = 10;

/** By place, the longest block that it had a part in, in milliseconds. */
export type Places = Map<string, number>;
/** The same, and the largest share that it had in one of its blocks. */
export type SeenPlaces = Map<string, { readonly millis: number; readonly share: number }>;
/** Places by test. */
type Tests = Map<string, Places>;

export class Baseline {
  readonly path: string;

  constructor(file: string | URL) {
    this.path = typeof file === 'string' ? resolve(file) : fileURLToPath(file);
  }

  get folder(): string {
    return dirname(this.path);
  }

  /** How messages name the file: relative to the working directory if it lies below. */
  get shownPath(): string {
    const fromHere = relative(process.cwd(), this.path);
    return fromHere.startsWith('..') ? basename(this.path) : fromHere.split(sep).join('/');
  }

  /** `hashRow (src/report.js)`: the same on every machine, and wherever in the function it was. */
  placeOf(code: KeyedPlace | undefined): string {
    if (code === undefined) return 'unknown code';
    const { file, ...place } = code;
    const short = file === undefined ? {} : { file: relativeTo(this.folder, toPath(file)) };
    const [name = '', position = ''] = keyOf({ ...place, ...short }).split('\n');
    return printable(position === '' ? name : `${name} (${position})`, Number.POSITIVE_INFINITY);
  }

  /** @throws Error if the file is there and is no baseline */
  known(test: string): Places {
    return this.#read().get(test) ?? new Map();
  }

  /**
   * Puts what was seen in a test into the file. The length of a place changes only if the new one
   * is longer, or less than half: runs that differ a little make no difference in the file.
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
        after.set(place, known >= length && !isLonger(known, length) ? known : length);
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
    const before = readIfThere(this.path);
    if (before === text || (before === undefined && tests.size === 0)) return;
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
    mkdirSync(this.folder, { recursive: true });
    const lock = `${this.path}.lock`;
    const unlock = () => rmSync(lock, { force: true });
    const giveUpAt = performance.now() + MAX_LOCK_WAIT_MILLIS;
    for (;;) {
      try {
        closeSync(openSync(lock, 'wx'));
        return unlock;
      } catch (error) {
        // Windows says EPERM while a file is being removed.
        const isLocked = hasCode(error, 'EEXIST') || hasCode(error, 'EPERM');
        if (!isLocked || performance.now() > giveUpAt) throw error;
      }
      const lockedAt = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Number.NaN;
      if (Date.now() - lockedAt > STALE_LOCK_MILLIS) unlock();
      await delay(LOCK_POLL_MILLIS * (0.5 + Math.random()));
    }
  }
}

export const isLonger = (millis: number, knownMillis: number) => millis > TOLERANCE * knownMillis;

/** Relative to a folder; a file of a package is relative to the folder of the packages. */
export function relativeTo(folder: string, file: string): string {
  const path = relative(folder, file).split(sep).join('/');
  return path.slice(Math.max(0, path.lastIndexOf('node_modules/')));
}

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
  const placesOf = ([test, places]: [string, unknown]): [string, Places] => {
    const lengths = Object.entries(asObject(places));
    const bad = lengths.find(([, millis]) => typeof millis !== 'number');
    if (bad !== undefined) throw new Error(`the length of ${bad[0]} is no number`);
    return [test, new Map(lengths as [string, number][])];
  };
  return new Map(Object.entries(asObject(blocks)).map(placesOf));
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

const hasCode = (error: unknown, code: string) =>
  (error as { code?: unknown } | null)?.code === code;
