/**
 * Stacks as a flame graph, the outermost frame on top. Its frames are elements: each can be reached
 * with the keyboard, and is read out with its share.
 */
import type { CodePlace } from '../src/types.ts';
import { button, empty, h, saveFile } from './elements.ts';
import { count, duration, percent, shortPath } from './format.ts';
import { type Block, isFrameOf, type Model } from './model.ts';
import { cpuProfile, type Frame, type Stack, stacksOf } from './stacks.ts';

/** Narrower frames are not drawn until one around them is zoomed into: a share of the width. */
const MIN_SHARE = 0.0015;
const ROW_PIXELS = 22;

interface FlameNode {
  readonly frame: Frame;
  readonly parent: FlameNode | undefined;
  readonly depth: number;
  /** The longest first, once the tree is complete. */
  children: FlameNode[];
  /** Where it begins, in milliseconds of the root. */
  start: number;
  millis: number;
  ownMillis: number;
}

const ROOT: Frame = {
  key: '',
  name: 'all',
  file: '',
  line: 0,
  functionLine: 0,
  origin: 'native',
};

export class FlameGraph {
  readonly element = h('div', { class: 'flame' });
  readonly #title = h('p');
  readonly #tree = h('div', { class: 'frames', role: 'tree', 'aria-label': 'Frames' });
  readonly #details = h('p', { 'aria-live': 'off' });
  readonly #toolbar = h('div', { class: 'toolbar' });
  readonly #search = h('input', {
    type: 'search',
    placeholder: 'Search',
    'aria-label': 'Search frames',
    input: () => this.#mark(),
  });
  readonly #found = h('output', { class: 'aside' });
  #drawn = new Map<HTMLElement, FlameNode>();
  #stacks: Stack[] = [];
  #what = '';
  #startMillis = 0;
  #root = newNode(ROOT);
  #zoomed = this.#root;

  constructor(private readonly model: Model) {
    const save = button('Save .cpuprofile', () => this.#save());
    this.#toolbar.append(this.#search, save, this.#found);
    this.#tree.addEventListener('keydown', (event) => this.#onKey(event));
    this.#tree.addEventListener('click', (event) => this.#zoom(this.#nodeOf(event.target)));
    for (const name of ['pointerover', 'focusin'])
      this.#tree.addEventListener(name, (event) => this.#describe(this.#nodeOf(event.target)));
  }

  /**
   * @param what names the blocks
   * @param opened the function whose frame has the whole width
   */
  show(blocks: readonly Block[], what: string, opened?: CodePlace): void {
    this.#stacks = stacksOf(this.model.report.stacks, blocks);
    this.#what = what;
    this.#startMillis = blocks[0]?.startTimeMillis ?? 0;
    this.#title.replaceChildren(what);
    if (this.#stacks.length === 0) {
      const why =
        'They are taken by a thread while the event loop is blocked, unless captureStack is ' +
        'false. A block close to the threshold may be over before the first one.';
      this.element.replaceChildren(this.#title, empty('There are no stack samples.', why));
      return;
    }
    const samples = blocks.reduce((sum, block) => sum + block.samples, 0);
    this.element.replaceChildren(this.#title, this.#toolbar, this.#tree, this.#details);
    this.#root = mergeStacks(this.#stacks);
    const [longest] = nodesOf(this.#root)
      .filter(({ frame }) => opened !== undefined && isFrameOf(opened, frame))
      .sort((a, b) => b.millis - a.millis);
    this.#zoom(longest ?? this.#root);
    const time = ` ${duration(this.#root.millis)}, ${count(samples, 'stack sample')}`;
    this.#title.append(h('span', { class: 'aside' }, time));
  }

  #zoom(zoomed: FlameNode | undefined): void {
    if (zoomed === undefined) return;
    const wasFocused = this.#tree.contains(document.activeElement);
    this.#zoomed = zoomed;
    this.#drawn = new Map();
    let depth = 0;
    const around = ancestorsOf(zoomed);
    const draw = (node: FlameNode) => {
      const isAround = around.includes(node);
      const width = isAround ? 1 : node.millis / zoomed.millis;
      if (width < MIN_SHARE) return;
      const left = isAround ? 0 : (node.start - zoomed.start) / zoomed.millis;
      depth = Math.max(depth, node.depth);
      this.#drawn.set(this.#elementOf(node, left, width, isAround), node);
      const inner = node.children.filter((child) => around.includes(child) || child === zoomed);
      for (const child of inner.length > 0 ? inner : node.children) draw(child);
    };
    draw(this.#root);
    this.#tree.style.height = `${(depth + 1) * ROW_PIXELS}px`;
    this.#tree.replaceChildren(...this.#drawn.keys());
    this.#describe(zoomed);
    this.#makeReachable(zoomed, wasFocused);
    this.#mark();
  }

  #elementOf(node: FlameNode, left: number, width: number, isAround: boolean): HTMLElement {
    const { name, origin } = node.frame;
    const label = `${name}, ${this.#timeOf(node)}`;
    const element = h(
      'div',
      {
        role: 'treeitem',
        tabindex: -1,
        class: 'frame',
        'aria-level': node.depth + 1,
        'aria-label': label,
        title: label,
      },
      width > 0.02 && name,
    );
    element.style.background = `var(--${isAround ? 'line' : origin})`;
    element.style.left = `${100 * left}%`;
    element.style.width = `${100 * width}%`;
    element.style.top = `${node.depth * ROW_PIXELS}px`;
    return element;
  }

  /** Shows what is searched for, and how long it ran. */
  #mark(): void {
    const text = this.#search.value.trim().toLowerCase();
    const isMatch = ({ frame }: FlameNode) =>
      text !== '' && `${frame.name} ${frame.file}`.toLowerCase().includes(text);
    for (const [element, node] of this.#drawn) {
      element.classList.toggle('match', isMatch(node));
    }
    const matches = nodesOf(this.#root).filter(isMatch);
    const outermost = matches.filter((node) => !ancestorsOf(node).some(isMatch));
    const millis = outermost.reduce((sum, node) => sum + node.millis, 0);
    const share = percent(millis / (this.#root.millis || 1));
    this.#found.textContent =
      text === '' ? '' : `${count(matches.length, 'frame')}, ${duration(millis)}, ${share}`;
  }

  #save(): void {
    const name = `event-loop-${this.#what.replace(/\W+/g, '-').slice(0, 60)}.cpuprofile`;
    saveFile(name, cpuProfile(this.#stacks, this.#startMillis));
  }

  #timeOf({ millis }: FlameNode): string {
    return `${duration(millis)}, ${percent(millis / (this.#root.millis || 1))}`;
  }

  #describe(node: FlameNode | undefined): void {
    if (node === undefined) return;
    const { name, file, line } = node.frame;
    const place = file === '' ? '' : ` (${shortPath(file, this.model.report.process.cwd)}:${line})`;
    const own = node.ownMillis > 0 ? `, ${duration(node.ownMillis)} of it itself` : '';
    this.#details.textContent = `${name}${place}: ${this.#timeOf(node)}${own}`;
  }

  #nodeOf(target: EventTarget | null): FlameNode | undefined {
    return this.#drawn.get((target as HTMLElement).closest<HTMLElement>('.frame') ?? this.#tree);
  }

  #makeReachable(node: FlameNode, isFocused: boolean): void {
    for (const [element, each] of this.#drawn) {
      element.tabIndex = each === node ? 0 : -1;
      if (each === node && isFocused) element.focus();
    }
  }

  #onKey(event: KeyboardEvent): void {
    const node = this.#nodeOf(event.target);
    if (node === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const drawn = new Set(this.#drawn.values());
    const beside = node.parent?.children.filter((each) => drawn.has(each)) ?? [];
    const at = beside.indexOf(node);
    const to: Record<string, () => FlameNode | undefined> = {
      ArrowUp: () => node.parent,
      ArrowDown: () => node.children.find((each) => drawn.has(each)),
      ArrowRight: () => beside[at + 1],
      ArrowLeft: () => beside[at - 1],
      Home: () => this.#root,
    };
    if (event.key === 'Enter' || event.key === ' ') this.#zoom(node);
    else if (event.key === 'Escape') this.#zoom(this.#zoomed.parent ?? this.#root);
    else if (to[event.key] !== undefined) {
      const next = to[event.key]?.();
      if (next !== undefined) this.#makeReachable(next, true);
    } else return;
    event.preventDefault();
  }
}

function newNode(frame: Frame, parent?: FlameNode): FlameNode {
  const depth = parent === undefined ? 0 : parent.depth + 1;
  return { frame, parent, depth, children: [], start: 0, millis: 0, ownMillis: 0 };
}

function mergeStacks(stacks: readonly Stack[]): FlameNode {
  const root = newNode(ROOT);
  const childrenOf = new Map<FlameNode, Map<string, FlameNode>>();
  for (const { frames, millis } of stacks) {
    let node = root;
    node.millis += millis;
    for (const frame of frames) {
      const children = childrenOf.get(node) ?? new Map<string, FlameNode>();
      childrenOf.set(node, children);
      const child = children.get(frame.key) ?? newNode(frame, node);
      children.set(frame.key, child);
      node = child;
      node.millis += millis;
    }
    node.ownMillis += millis;
  }
  for (const [node, children] of childrenOf) {
    node.children = [...children.values()].sort((a, b) => b.millis - a.millis);
  }
  for (const node of nodesOf(root)) {
    let { start } = node;
    for (const child of node.children) {
      child.start = start;
      start += child.millis;
    }
  }
  return root;
}

/** Each before its children. */
function nodesOf(root: FlameNode): FlameNode[] {
  const all = [root];
  for (const { children } of all) all.push(...children);
  return all;
}

function ancestorsOf({ parent }: FlameNode): FlameNode[] {
  const all: FlameNode[] = [];
  for (let node = parent; node !== undefined; node = node.parent) all.push(node);
  return all;
}
