/**
 * Stacks, each frame that they share once. Guarantees: a bounded number of nodes; what comes after
 * them ends at the innermost node that is known.
 */
import type { SampledFrame, SampledStack } from '../../types.ts';
import type { ReportFrame } from './document.ts';

/** Some 100 bytes each. */
const MAX_NODES = 20_000;

const ROOT = -1;

export class StackTree {
  readonly #frames: ReportFrame[] = [];
  readonly #frameIds = new Map<string, number>();
  readonly #files: string[] = [];
  readonly #fileIds = new Map<string, number>();
  readonly #nodes: number[] = [];
  readonly #nodeIds = new Map<number, number>();
  /** Frames for which there was no room. */
  dropped = 0;

  constructor(private readonly maxNodes = MAX_NODES) {}

  /** The node of its innermost frame; undefined if there is not even one for its outermost. */
  add({ frames }: Pick<SampledStack, 'frames'>): number | undefined {
    let node = ROOT;
    for (let i = frames.length - 1; i >= 0; i--) {
      const inner = this.#nodeIn(node, frames[i] as SampledFrame);
      if (inner === undefined) {
        this.dropped += i + 1;
        break;
      }
      node = inner;
    }
    return node === ROOT ? undefined : node;
  }

  /**
   * A node of another tree, with those around it.
   * @param copied the nodes that have been copied from it, by their numbers there
   */
  copy(node: number, from: StackTree, copied: Map<number, number | undefined>): number | undefined {
    if (node === ROOT || copied.has(node)) return node === ROOT ? ROOT : copied.get(node);
    const [parent, frame] = from.#nodes.slice(2 * node, 2 * node + 2) as [number, number];
    const [name, file, line, functionLine] = from.#frames[frame] as ReportFrame;
    const around = this.copy(parent, from, copied);
    const path = file === -1 ? '' : (from.#files[file] as string);
    const own =
      around === undefined
        ? undefined
        : this.#nodeIn(around, { name, file: path, line, functionLine });
    copied.set(node, own ?? around);
    return own ?? around;
  }

  read() {
    return {
      frames: this.#frames as readonly ReportFrame[],
      files: this.#files as readonly string[],
      /** Of each node the one around it, or -1, and its frame. */
      nodes: this.#nodes as readonly number[],
    };
  }

  #nodeIn(parent: number, { name, file, line, functionLine }: SampledFrame): number | undefined {
    const isFull = this.#nodes.length >= 2 * this.maxNodes;
    const key = `${name}\n${file}\n${line}\n${functionLine}`;
    let frame = this.#frameIds.get(key);
    if (frame === undefined) {
      if (isFull) return undefined;
      frame = this.#frames.length;
      this.#frames.push([name, this.#fileId(file), line, functionLine]);
      this.#frameIds.set(key, frame);
    }
    // There are fewer frames than nodes.
    const nodeKey = (parent + 1) * (MAX_NODES + 1) + frame;
    const known = this.#nodeIds.get(nodeKey);
    if (known !== undefined || isFull) return known;
    const node = this.#nodes.length / 2;
    this.#nodes.push(parent, frame);
    this.#nodeIds.set(nodeKey, node);
    return node;
  }

  #fileId(file: string): number {
    if (file === '') return -1;
    let id = this.#fileIds.get(file);
    if (id === undefined) {
      id = this.#files.push(file) - 1;
      this.#fileIds.set(file, id);
    }
    return id;
  }
}
