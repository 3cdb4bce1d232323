// Guarantees: one form for what a benchmark found, `Result`, and one way to print it: as it comes,
// or from the JSON that was written.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { dirname } from 'node:path';
import { table } from '../../tools/table.cjs';

/** One-minute load from which the numbers are not worth quoting: other processes run. */
const QUIET_LOAD = 0.5;
const BUSY = ' (BUSY MACHINE: do not quote what depends on the CPU)';

/**
 * @typedef {{ title: string, head: string[], rows: string[][], data?: unknown }} Table `data` has the
 *   numbers behind it
 * @typedef {object} Result
 * @property {string} bench
 * @property {string} [command]
 * @property {string} date
 * @property {string} [commit]
 * @property {{ cpu: string, cpus: number, platform: string, load?: number | null }} machine
 * @property {Record<string, string>} versions of what is compared
 * @property {string[]} notes
 * @property {Table[]} tables
 */

/** @returns {string} */
const rendered = (/** @type {Table} */ { title, head, rows }) =>
  `\n${title}\n${table(head, rows, { numeric: true })}`;

/** @returns {string} */
export function render(
  /** @type {Result} */ { bench, command, date, machine, versions, notes, tables },
) {
  const { cpu, cpus, platform, load } = machine;
  const names = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return [
    `=== ${command ?? bench}, ${date.slice(0, 10)}: ${cpu}, ${cpus} CPUs, ${platform}, load ${load ?? 'not known'}`,
    ...(names.length > 0 ? [names.join(', ')] : []),
    ...notes,
    ...tables.map(rendered),
  ].join('\n');
}

export class Report {
  /** @type {Table[]} */
  #tables = [];
  /** @type {Record<string, string>} */
  #versions = {};
  /** @type {string[]} */
  #notes = [];
  #load = loadavg()[0];

  /** @param {string} name of the benchmark */
  constructor(name) {
    this.name = name;
    this.date = new Date();
    console.log(
      `\n=== ${name}: ${cpus()[0].model}, ${availableParallelism()} CPUs, ${process.platform} ${process.arch}`,
    );
    console.log(`load before the run: ${this.#load.toFixed(2)}${this.isQuiet ? '' : BUSY}`);
  }

  get isQuiet() {
    return this.#load < QUIET_LOAD;
  }

  /** Of what is compared, as `npm ls` lists them. */
  versions(/** @type {Record<string, string>} */ versions) {
    Object.assign(this.#versions, versions);
  }

  note(/** @type {string} */ text) {
    this.#notes.push(text);
    console.log(text);
  }

  /**
   * @param {string} title
   * @param {string[]} head
   * @param {string[][]} rows
   * @param {unknown} [data] the numbers behind it, for the JSON
   */
  table(title, head, rows, data) {
    this.#tables.push({ title, head, rows, data });
    console.log(rendered({ title, head, rows }));
  }

  /** Writes the JSON. */
  write(/** @type {string} */ file) {
    /** @type {Result} */
    const content = {
      bench: this.name,
      date: this.date.toISOString(),
      commit: commit(),
      machine: {
        cpu: cpus()[0].model,
        cpus: availableParallelism(),
        platform: `${process.platform} ${process.arch}`,
        load: this.#load,
      },
      versions: this.#versions,
      notes: this.#notes,
      tables: this.#tables,
    };
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`);
    console.log(`\nwritten to ${file}`);
  }
}

/** Undefined outside of a git repository. */
function commit() {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return undefined;
  }
}
