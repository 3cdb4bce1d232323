// Guarantees: what V8's profiler saw in a period: how much of it each function was on the stack,
// and how much of it the thread was idle.
import { PACKAGE_NAME } from '../../../tools/paths.cjs';
import { isFunctionNode, isInApp, isLabelled, packageOf, sourcePlace } from './places.mjs';

/** @typedef {import('./places.mjs').Place} Place */
/** @typedef {import('./launch.mjs').Label} Label */
/**
 * @typedef {{ millis: number, path: Place[], isCollection: boolean }} Sample the path is the
 *   innermost first; empty while nothing of JavaScript ran
 */

const NOT_CODE = /^\((?:root|program|idle|garbage collector)\)$/;
/** A break that short does not end a stretch: the sampler's own noise. */
const BREAK_MILLIS = 1.5;
const HALF = 0.5;
/** An agent's code: its own work is nobody's place but the agent's. */
const AGENT =
  /^(?:@opentelemetry\/|require-in-the-middle$|import-in-the-middle$|protobufjs$|opentelemetry-instrumentation-event-loop$)/;

/** The stacks of a period. */
export class Stacks {
  /**
   * @param {Sample[]} samples
   * @param {string} folder of the application
   * @param {number} [from] a time of `process.hrtime`, in microseconds
   * @param {number} [until]
   * @param {number} [idleMillis] of the period, that is not in the samples
   */
  constructor(samples, folder, from = 0, until = 0, idleMillis = 0) {
    this.idleMillis = idleMillis;
    this.samples = samples;
    this.folder = folder;
    this.from = from;
    this.until = until;
    this.millis = samples.reduce((sum, { millis }) => sum + millis, 0);
    this.codeMillis = samples.reduce(
      (sum, { millis, path }) => sum + (path.length === 0 ? 0 : millis),
      0,
    );
  }

  /** Share of the time of JavaScript that a question is true of. */
  share(/** @type {(path: Place[]) => boolean} */ is) {
    let millis = 0;
    for (const sample of this.samples) if (is(sample.path)) millis += sample.millis;
    return this.codeMillis === 0 ? 0 : millis / this.codeMillis;
  }

  /** All that were on the stack, but for the agent's. */
  get packages() {
    const files = new Set(this.samples.flatMap(({ path }) => path.map(({ file }) => file)));
    const others = [...files].filter((file) => !isAgent(file));
    return others.map(packageOf).filter((name) => name !== undefined);
  }

  get shareOfCollection() {
    const millis = this.samples.reduce(
      (sum, sample) => sum + (sample.isCollection ? sample.millis : 0),
      0,
    );
    return this.millis === 0 ? 0 : millis / this.millis;
  }

  shareOfLabel(/** @type {Label | Label[]} */ label) {
    return this.share((path) => path.some((place) => isLabelled(label, place, this.folder)));
  }

  /** Share in which the agent's code ran innermost, apart from built-ins. */
  get shareOfAgent() {
    return this.share((path) => {
      // The wrapper of a built-in is innermost where that runs.
      const first = path.find(
        ({ file }) => file.startsWith('/') && packageOf(file) !== PACKAGE_NAME,
      );
      return first !== undefined && isAgent(first.file);
    });
  }

  /**
   * The application's functions that are on the stack for half of the time, the innermost first.
   * @returns {Place[]}
   */
  get application() {
    return this.heavy()
      .filter(({ place }) => isInApp(place.file, this.folder))
      .map(({ place }) => place);
  }

  /**
   * Functions that are on the stack for half of the time, the innermost first.
   * @returns {{ place: Place, share: number }[]}
   */
  heavy() {
    if (this.codeMillis === 0) return [];
    /** @type {Map<string, { place: Place, millis: number, depth: number }>} */
    const functions = new Map();
    for (const { millis, path } of this.samples) {
      /** @type {Set<string>} */
      const seen = new Set();
      path.forEach((place, i) => {
        const key = `${place.name} ${place.file}:${place.line}`;
        if (seen.has(key)) return;
        seen.add(key);
        const known = functions.get(key) ?? { place, millis: 0, depth: 0 };
        functions.set(key, known);
        known.millis += millis;
        known.depth += (path.length - i) * millis;
      });
    }
    return [...functions.values()]
      .filter(({ place, millis }) => millis >= this.codeMillis * HALF && isFile(place.file))
      .sort((a, b) => b.depth / b.millis - a.depth / a.millis)
      .map(({ place, millis }) => ({ place, share: millis / this.codeMillis }));
  }

  /** The heaviest path: the application's functions (`*`), and two at both ends. */
  describe() {
    const heavy = this.heavy().reverse();
    const collection = Math.round(this.shareOfCollection * 100);
    const path = heavy
      .filter(({ place }, i) => isInApp(place.file, this.folder) || i < 2 || i >= heavy.length - 2)
      .map(({ place, share }) => {
        const inApp = isInApp(place.file, this.folder) ? '*' : '';
        return `${inApp}${place.name || '<anonymous>'} (${shorten(place.file, this.folder)}:${place.line}) ${Math.round(share * 100)}%`;
      })
      .join(' > ');
    const native = Math.round((1 - this.codeMillis / (this.millis || 1)) * 100) - collection;
    return [
      path,
      collection >= 20 ? `(garbage collection ${collection}%)` : '',
      native >= 20 ? `(no JavaScript ${native}%)` : '',
    ].join(' ');
  }
}

const isFile = (/** @type {string} */ file) => file.startsWith('/') || isFunctionNode(file);

export const isAgent = (/** @type {string} */ file) => AGENT.test(packageOf(file) ?? '');

export const shorten = (/** @type {string} */ file, /** @type {string} */ folder) =>
  (file.startsWith(`${folder}/`) ? file.slice(folder.length + 1) : file).replace(
    /^.*node_modules\//,
    '~',
  );

/** One thread's profile. */
export class Profile {
  /** @type {Map<number, { callFrame: any, parent?: number }>} */
  #nodes = new Map();
  /** @type {Map<number, Place[]>} */
  #paths = new Map();
  /**
   * @type {{ micros: number, millis: number, isIdle: boolean, isCollection: boolean,
   *   id: number }[]}
   */
  #samples = [];

  constructor(
    /** @type {any} */ { pid, nodes, samples, timeDeltas, startTime },
    /** @type {string} */ folder,
  ) {
    this.pid = pid;
    this.folder = folder;
    for (const { id, callFrame } of nodes) this.#nodes.set(id, { callFrame });
    for (const { id, children = [] } of nodes)
      for (const child of children) {
        const node = this.#nodes.get(child);
        if (node) node.parent = id;
      }
    let micros = startTime;
    samples.forEach((/** @type {number} */ id, /** @type {number} */ i) => {
      micros += timeDeltas[i];
      const name = this.#nodes.get(id)?.callFrame.functionName;
      this.#samples.push({
        micros,
        millis: (timeDeltas[i + 1] ?? 0) / 1000,
        isIdle: name === '(idle)',
        isCollection: name === '(garbage collector)',
        id,
      });
    });
  }

  /** What ran in a period. */
  between(/** @type {number} */ from, /** @type {number} */ until) {
    const all = this.#samples.filter(({ micros }) => micros >= from && micros <= until);
    const idleMillis = all.reduce((sum, { isIdle, millis }) => sum + (isIdle ? millis : 0), 0);
    const samples = all
      .filter(({ isIdle }) => !isIdle)
      .map(({ millis, isCollection, id }) => ({ millis, isCollection, path: this.#path(id) }));
    return new Stacks(samples, this.folder, from, until, idleMillis);
  }

  /**
   * Periods in which the thread was not idle.
   * @param {number} from
   * @param {number} until
   * @param {number} atLeastMillis
   */
  stretches(from, until, atLeastMillis) {
    const found = [];
    /** @type {Sample[]} */
    let samples = [];
    let begin = 0;
    let last = 0;
    let pause = 0;
    const end = () => {
      const stretch = new Stacks(samples, this.folder, begin, last);
      if (stretch.millis >= atLeastMillis) found.push(stretch);
      samples = [];
    };
    for (const { micros, millis, isIdle, isCollection, id } of this.#samples) {
      if (micros < from || micros > until) continue;
      if (isIdle) {
        pause += millis;
        if (pause > BREAK_MILLIS) end();
        continue;
      }
      if (samples.length === 0) begin = micros;
      pause = 0;
      last = micros + millis * 1000;
      samples.push({ millis, isCollection, path: this.#path(id) });
    }
    end();
    return found;
  }

  /** @returns {Place[]} */
  #path(/** @type {number} */ id) {
    const known = this.#paths.get(id);
    if (known) return known;
    const path = [];
    for (
      let node = this.#nodes.get(id);
      node !== undefined;
      node = node.parent === undefined ? undefined : this.#nodes.get(node.parent)
    ) {
      const { functionName, url, lineNumber, columnNumber } = node.callFrame;
      if (!NOT_CODE.test(functionName))
        path.push(sourcePlace(functionName, url, lineNumber + 1, columnNumber + 1, true));
    }
    this.#paths.set(id, path);
    return path;
  }
}
