// Guarantees: what a benchmark found, printed as it comes, and kept for the JSON that is written at
// the end.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { dirname } from 'node:path';
import { table } from '../../tools/table.cjs';

/** One-minute load from which the numbers are not worth quoting: other processes run. */
const QUIET_LOAD = 0.5;
const BUSY = ' (BUSY MACHINE: do not quote what depends on the CPU)';

export class Report {
  /** @type {{ title: string, head: string[], rows: string[][], data?: unknown }[]} */
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
    console.log(`\n${title}\n${table(head, rows, { numeric: true })}`);
  }

  /** Writes the JSON. */
  write(/** @type {string} */ file) {
    const content = {
      bench: this.name,
      date: this.date.toISOString(),
      commit: commit(),
      machine: {
        cpu: cpus()[0].model,
        cpus: availableParallelism(),
        platform: `${process.platform} ${process.arch}`,
        load: this.#load,
        quiet: this.isQuiet,
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
