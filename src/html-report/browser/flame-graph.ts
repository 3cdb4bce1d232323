/**
 * Stacks as a flame graph, the outermost frame on top. Its frames are elements: each can be reached
 * with the keyboard, and is read out with its share.
 */
import { type HierarchyRectangularNode, hierarchy, partition } from 'd3-hierarchy';
import { empty, h } from './elements.ts';
import { count, duration, percent, shortPath } from './format.ts';
import type { Block, Model } from './model.ts';

/** Narrower frames are not drawn until one around them is zoomed into: a share of the width. */
const MIN_SHARE = 0.0015;
const ROW_PIXELS = 22;

interface FlameNode {
  readonly name: string;
  readonly file: string;
  readonly line: number;
  readonly children: Map<string, FlameNode>;
  millis: number;
}
type Frame = HierarchyRectangularNode<FlameNode>;

export class FlameGraph {
  readonly element = h('div', { class: 'flame' });
  readonly #title = h('p', { class: 'flame-title' });
  readonly #tree = h('div', { class: 'frames', role: 'tree', 'aria-label': 'Frames' });
  readonly #details = h('p', { class: 'frame-details', 'aria-live': 'off' });
  readonly #heaviest = h('div');
  #frames = new Map<HTMLElement, Frame>();
  #root: Frame | undefined;
  #zoomed: Frame | undefined;

  constructor(private readonly model: Model) {
    this.#tree.addEventListener('keydown', (event) => this.#onKey(event));
    this.#tree.addEventListener('click', (event) => this.#zoom(this.#frameOf(event.target)));
    for (const name of ['pointerover', 'focusin'])
      this.#tree.addEventListener(name, (event) => this.#describe(this.#frameOf(event.target)));
  }

  /** @param what names the blocks */
  show(blocks: readonly Block[], what: string): void {
    const { root, samples } = this.#merge(blocks);
    if (root.children.size === 0) {
      this.element.replaceChildren(
        this.#title,
        empty(
          'There are no stack samples.',
          'They are taken by a thread while the event loop is blocked, unless captureStack is ' +
            'false. A block close to the threshold may be over before the first one.',
        ),
      );
      this.#title.textContent = what;
      return;
    }
    this.#root = partition<FlameNode>()(
      hierarchy(root, ({ children }) => [...children.values()])
        .sum(({ millis }) => millis)
        .sort((a, b) => (b.value ?? 0) - (a.value ?? 0)),
    );
    this.#title.replaceChildren(
      what,
      h(
        'span',
        { class: 'aside' },
        ` ${duration(this.#root.value ?? 0)}, ${count(samples, 'stack sample')}`,
      ),
    );
    this.element.replaceChildren(this.#title, this.#tree, this.#details, this.#heaviest);
    this.#showHeaviest();
    this.#zoom(this.#root);
  }

  #merge(blocks: readonly Block[]): { root: FlameNode; samples: number } {
    const { frames, files, nodes } = this.model.report.stacks;
    const millisOf = new Map<number, number>();
    let samples = 0;
    for (const block of blocks) {
      samples += block.samples;
      for (let i = 0; i < block.stacks.length; i += 2) {
        const node = block.stacks[i] as number;
        millisOf.set(node, (millisOf.get(node) ?? 0) + (block.stacks[i + 1] as number));
      }
    }
    const root = newNode('all', '', 0);
    const merged = new Map<number, FlameNode>([[-1, root]]);
    const mergedOf = (node: number): FlameNode => {
      const known = merged.get(node);
      if (known !== undefined) return known;
      const around = mergedOf(nodes[2 * node] as number);
      const [name, file, line, functionLine] = frames[nodes[2 * node + 1] as number] ?? [
        '',
        -1,
        0,
        0,
      ];
      const key = `${name}\n${file}\n${functionLine || line}`;
      let own = around.children.get(key);
      if (own === undefined) {
        own = newNode(name, files[file] ?? '', line);
        around.children.set(key, own);
      }
      merged.set(node, own);
      return own;
    };
    for (const [node, millis] of millisOf) mergedOf(node).millis += millis;
    return { root, samples };
  }

  #zoom(frame: Frame | undefined): void {
    if (frame === undefined) return;
    const wasFocused = this.#tree.contains(document.activeElement);
    this.#zoomed = frame;
    const { x0, x1 } = frame;
    const drawn = new Map<HTMLElement, Frame>();
    let depth = 0;
    const root = this.#root as Frame;
    root.each((each) => {
      const width = (Math.min(each.x1, x1) - Math.max(each.x0, x0)) / (x1 - x0);
      if (width < MIN_SHARE) return;
      depth = Math.max(depth, each.depth);
      drawn.set(this.#elementOf(each, (Math.max(each.x0, x0) - x0) / (x1 - x0), width), each);
    });
    this.#frames = drawn;
    this.#tree.style.height = `${(depth + 1) * ROW_PIXELS}px`;
    this.#tree.replaceChildren(...drawn.keys());
    this.#describe(frame);
    this.#makeReachable(frame, wasFocused);
  }

  #elementOf(frame: Frame, left: number, width: number): HTMLElement {
    const { name, file } = frame.data;
    const isAround = this.#zoomed !== frame && this.#zoomed?.ancestors().includes(frame) === true;
    const element = h(
      'div',
      {
        role: 'treeitem',
        tabindex: -1,
        class: `frame ${originOf(file)}${isAround ? ' around' : ''}`,
        'aria-level': frame.depth + 1,
        'aria-label': `${name}, ${this.#timeOf(frame)}`,
        title: `${name}: ${this.#timeOf(frame)}`,
      },
      width > 0.02 && name,
    );
    element.style.left = `${100 * left}%`;
    element.style.width = `${100 * width}%`;
    element.style.top = `${frame.depth * ROW_PIXELS}px`;
    return element;
  }

  #timeOf(frame: Frame): string {
    const value = frame.value ?? 0;
    return `${duration(value)}, ${percent(value / (this.#root?.value ?? 1))}`;
  }

  #describe(frame: Frame | undefined): void {
    if (frame === undefined) return;
    const { name, file, line, millis } = frame.data;
    const place = file === '' ? '' : ` (${shortPath(file, this.model.report.process.cwd)}:${line})`;
    const own = millis > 0 ? `, ${duration(millis)} of it itself` : '';
    this.#details.textContent = `${name}${place}: ${this.#timeOf(frame)}${own}`;
  }

  #frameOf(target: EventTarget | null): Frame | undefined {
    return this.#frames.get((target as HTMLElement).closest<HTMLElement>('.frame') ?? this.#tree);
  }

  #makeReachable(frame: Frame, isFocused: boolean): void {
    for (const [element, each] of this.#frames) {
      element.tabIndex = each === frame ? 0 : -1;
      if (each === frame && isFocused) element.focus();
    }
  }

  #onKey(event: KeyboardEvent): void {
    const frame = this.#frameOf(event.target);
    if (frame === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const drawn = new Set(this.#frames.values());
    const beside = frame.parent?.children?.filter((each) => drawn.has(each)) ?? [];
    const at = beside.indexOf(frame);
    const to: Record<string, () => Frame | null | undefined> = {
      ArrowUp: () => frame.parent,
      ArrowDown: () => frame.children?.find((each) => drawn.has(each)),
      ArrowRight: () => beside[at + 1],
      ArrowLeft: () => beside[at - 1],
      Home: () => this.#root,
    };
    if (event.key === 'Enter' || event.key === ' ') this.#zoom(frame);
    else if (event.key === 'Escape') this.#zoom(this.#zoomed?.parent ?? this.#root);
    else if (to[event.key] !== undefined) {
      const next = to[event.key]?.();
      if (next) this.#makeReachable(next, true);
    } else return;
    event.preventDefault();
  }

  /** As text, too: what ran innermost. */
  #showHeaviest(): void {
    const millisOf = new Map<string, { name: string; file: string; millis: number }>();
    this.#root?.each(({ data: { name, file, millis } }) => {
      if (millis === 0) return;
      const known = millisOf.get(`${name}\n${file}`);
      if (known === undefined) millisOf.set(`${name}\n${file}`, { name, file, millis });
      else known.millis += millis;
    });
    const all = this.#root?.value ?? 1;
    const heaviest = [...millisOf.values()].sort((a, b) => b.millis - a.millis).slice(0, 10);
    this.#heaviest.replaceChildren(
      h(
        'details',
        {},
        h('summary', {}, 'What ran innermost, as a list'),
        h(
          'ol',
          { class: 'heaviest' },
          ...heaviest.map(({ name, file, millis }) =>
            h(
              'li',
              {},
              h('code', {}, name),
              file !== '' &&
                h('span', { class: 'aside' }, ` ${shortPath(file, this.model.report.process.cwd)}`),
              ` ${duration(millis)}, ${percent(millis / all)}`,
            ),
          ),
        ),
      ),
    );
  }
}

const newNode = (name: string, file: string, line: number): FlameNode => ({
  name,
  file,
  line,
  children: new Map(),
  millis: 0,
});

function originOf(file: string): 'app' | 'package' | 'native' {
  if (file === '' || file.startsWith('node:')) return 'native';
  return file.includes('node_modules') ? 'package' : 'app';
}
