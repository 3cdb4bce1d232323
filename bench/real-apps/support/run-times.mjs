// Guarantees: at most how long the main threads of an application's processes have run between two
// moments, as the kernel counts it: `cpuTimeMillis` is not known on Node.js 20.
import { readdirSync, readFileSync } from 'node:fs';

const POLL_MILLIS = 2;
/** The kernel counts in ticks what a thread has run: so much may not be counted yet. */
const TICK_MILLIS = 4;
const SUFFIX = '.started';

/** @typedef {{ at: number, ran: number }} Reading in milliseconds, `at` of `unix()` */

export class RunTimes {
  /** @type {Map<number, Reading[]>} by process id */
  #readings = new Map();
  /** @type {NodeJS.Timeout | undefined} */
  #timer;

  /**
   * @param {string} folder with a file `<pid>.started` of each process
   * @param {() => number} unix
   */
  constructor(folder, unix) {
    this.folder = folder;
    this.unix = unix;
    if (process.platform === 'linux') this.#timer = setInterval(() => this.#read(), POLL_MILLIS);
  }

  stop() {
    clearInterval(this.#timer);
  }

  #read() {
    for (const name of readdirSync(this.folder)) {
      if (!name.endsWith(SUFFIX)) continue;
      const pid = Number(name.slice(0, -SUFFIX.length));
      const readings = this.#readings.get(pid) ?? [];
      this.#readings.set(pid, readings);
      const at = this.unix();
      try {
        const text = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'latin1');
        readings.push({ at, ran: Number.parseInt(text, 10) / 1e6 });
      } catch {
        // It has ended.
      }
    }
  }

  /** `Infinity` if it is not known. */
  atMost(/** @type {number} */ pid, /** @type {number} */ from, /** @type {number} */ until) {
    const readings = this.#readings.get(pid) ?? [];
    const first = readings.findLast(({ at }) => at <= from);
    const last = readings.find(({ at }) => at >= until + TICK_MILLIS);
    return first && last ? last.ran - first.ran : Number.POSITIVE_INFINITY;
  }
}
