/**
 * The run over time, by uPlot: lag and utilization; below them, on the same scale, the blocks in
 * the colours of their functions and the requests that waited for them. uPlot shows what is dragged
 * over, and the whole run after a double click.
 */
import uPlot from 'uplot';
import { button, h, legend } from './elements.ts';
import { clockTime, count, duration, percent } from './format.ts';
import { assignRows, type Block, COLORS, type Model, type Request } from './model.ts';

/** From the top of the plot, in pixels. */
const LINES_HEIGHT = 112;
const BLOCKS_TOP = LINES_HEIGHT + 6;
const BLOCKS_HEIGHT = 26;
const REQUESTS_TOP = BLOCKS_TOP + BLOCKS_HEIGHT + 22;
const REQUESTS_HEIGHT = 160;
const AXIS_HEIGHT = 26;
const MAX_ROWS = 80;
const GUTTER = 56;
const ZOOM = 1.6;
/** The shortest time that fills the width. */
const MIN_RANGE_MILLIS = 5;
/** Steps of the time axis, in seconds. */
const STEPS = [
  0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900,
  1800, 3600, 7200, 14_400, 28_800, 86_400, 172_800, 604_800,
];
const HINT =
  'Arrow keys select the block before or after, Home and End the first and the last one.';

export class Timeline {
  readonly element: HTMLElement;
  readonly #model: Model;
  readonly #select: (block: Block) => void;
  readonly #plotHolder = h('div', { 'aria-hidden': 'true' });
  readonly #tooltip = h('div', { class: 'tooltip', hidden: true });
  readonly #range = h('output', { class: 'range aside' });
  readonly #rows: number;
  readonly #height: number;
  #plot: uPlot | undefined;
  #selected: Block | undefined;
  #highlighted: number | undefined;
  #colors = colors();

  constructor(model: Model, select: (block: Block) => void) {
    this.#model = model;
    this.#select = select;
    this.#rows = assignRows(model.requests ?? [], MAX_ROWS);
    const rows = this.#rows * this.#rowHeight();
    this.#height = rows > 0 ? REQUESTS_TOP + rows + 6 : REQUESTS_TOP - 14;
    const blocks = count(model.blocks.length, 'block');
    const stage = h(
      'div',
      {
        class: 'stage',
        tabindex: 0,
        role: 'application',
        'aria-label': `Timeline of ${duration(model.elapsed)} with ${blocks}`,
        'aria-describedby': 'timeline-hint',
        keydown: (event: KeyboardEvent) => this.#onKey(event),
      },
      this.#plotHolder,
    );
    this.element = h(
      'div',
      { class: 'timeline' },
      h(
        'div',
        { class: 'toolbar' },
        button('+', () => this.#zoom(1 / ZOOM), 'Zoom in'),
        button('−', () => this.#zoom(ZOOM), 'Zoom out'),
        button('Whole run', () => this.#show(0, model.elapsed), 'Show the whole run'),
        this.#range,
        legend({ lag: 'lag', busy: 'utilization' }),
        h(
          'span',
          { class: 'aside' },
          'Drag to zoom, double-click for the whole run, click a block.',
        ),
      ),
      stage,
      h('p', { id: 'timeline-hint', class: 'for-screen-readers' }, HINT),
    );
    new ResizeObserver(() => this.redraw()).observe(stage);
  }

  select(block: Block): void {
    this.#selected = block;
    const { from, until } = this.#shown();
    const half = (until - from) / 2;
    if (block.end < from || block.start > until) this.#show(block.start - half, block.start + half);
    this.#plot?.redraw(false);
  }

  /** Only this function's blocks are in full colour; all are if it is undefined. */
  highlight(key: number | undefined): void {
    this.#highlighted = key;
    this.#plot?.redraw(false);
  }

  /** After the size or the colours have changed. */
  redraw(): void {
    const width = this.#plotHolder.clientWidth;
    if (width === 0) return;
    const { from, until } = this.#shown();
    this.#colors = colors();
    this.#plot?.destroy();
    this.#plot = new uPlot(this.#options(width), pointsOf(this.#model), this.#plotHolder);
    this.#plot.over.append(this.#tooltip);
    // uPlot keeps a click at the end of a drag to itself.
    this.#plot.over.addEventListener('click', () => this.#click());
    this.#show(from, until);
  }

  #options(width: number): uPlot.Options {
    const { text, grid, lag, lagArea, busy } = this.#colors;
    const font = '11px system-ui, sans-serif';
    const axis = { stroke: text, font, grid: { stroke: grid, width: 1 }, ticks: { show: false } };
    /** The lines are above the blocks: 0 is not at the bottom of the plot. */
    const below = (top: number) => top * (1 - this.#height / LINES_HEIGHT);
    return {
      width,
      height: AXIS_HEIGHT + this.#height,
      padding: [0, 0, 0, 0],
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: true, y: false } },
      hooks: { draw: [(plot) => this.#draw(plot)], setCursor: [(plot) => this.#hover(plot)] },
      scales: {
        x: { time: false, range: (_plot, from, until) => this.#within(from, until) },
        lag: {
          range(_plot, _min, max) {
            const top = Math.max(10, max * 1.08);
            return [below(top), top];
          },
        },
        busy: { range: [below(1), 1] },
      },
      axes: [
        {
          ...axis,
          side: 0,
          incrs: STEPS,
          space: 80,
          size: AXIS_HEIGHT,
          values: (_plot, ticks) => ticks.map(seconds),
        },
        {
          ...axis,
          scale: 'lag',
          size: GUTTER,
          splits: (_plot, _axis, _min, max, step) =>
            Array.from({ length: Math.floor(max / step) + 1 }, (_, i) => i * step),
          values: (_plot, ticks) => ticks.map(duration),
        },
        {
          ...axis,
          scale: 'busy',
          side: 1,
          size: GUTTER,
          grid: { show: false },
          splits: () => [0, 0.5, 1],
          values: (_plot, ticks) => ticks.map((share) => `${100 * share} %`),
        },
      ],
      series: [
        {},
        { scale: 'busy', stroke: busy, width: 1.25, points: { show: false } },
        { scale: 'lag', stroke: lag, fill: lagArea, fillTo: 0, points: { show: false } },
      ],
    };
  }

  /** In milliseconds since the run began. */
  #shown(): { from: number; until: number } {
    const { min = 0, max = this.#model.elapsed / 1000 } = this.#plot?.scales['x'] ?? {};
    return { from: 1000 * min, until: 1000 * max };
  }

  #show(from: number, until: number): void {
    this.#plot?.setScale('x', { min: from / 1000, max: until / 1000 });
  }

  /** In seconds, as uPlot has them: no time out of the run is shown. */
  #within(from: number, until: number): [number, number] {
    const elapsed = this.#model.elapsed / 1000;
    const length = Math.min(elapsed, Math.max(MIN_RANGE_MILLIS / 1000, until - from));
    const start = Math.max(0, Math.min(elapsed - length, (from + until - length) / 2));
    return [start, start + length];
  }

  #zoom(factor: number): void {
    const { from, until } = this.#shown();
    const selected = this.#selected?.start ?? Number.NaN;
    const around = from <= selected && selected <= until ? selected : (from + until) / 2;
    this.#show(around - (around - from) * factor, around + (until - around) * factor);
  }

  #draw(plot: uPlot): void {
    const { ctx: context, bbox } = plot;
    const scale = devicePixelRatio;
    context.save();
    context.translate(bbox.left, bbox.top);
    context.scale(scale, scale);
    const width = bbox.width / scale;
    this.#drawLabels(context, width);
    context.beginPath();
    context.rect(0, 0, width, this.#height);
    context.clip();
    const view = { context, width, ...this.#shown(), x: xIn(plot) };
    this.#drawBlocks(view);
    this.#drawRequests(view);
    context.restore();
    this.#range.textContent = `${duration(view.from)} to ${duration(view.until)}`;
  }

  #drawLabels(context: CanvasRenderingContext2D, width: number): void {
    const { text, grid } = this.#colors;
    context.fillStyle = text;
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    context.textAlign = 'right';
    context.fillText('blocks', -8, BLOCKS_TOP + BLOCKS_HEIGHT / 2);
    context.fillStyle = grid;
    context.fillRect(0, BLOCKS_TOP + BLOCKS_HEIGHT, width, 1);
    if (this.#rows === 0) return;
    context.fillStyle = text;
    context.textAlign = 'left';
    context.fillText('requests that waited', 0, REQUESTS_TOP - 9);
  }

  #drawBlocks(view: View): void {
    const { context, x } = view;
    const { blocks } = this.#model;
    // Of those that share a pixel, the longest is drawn.
    let longest: Block | undefined;
    let column = Number.NaN;
    for (let i = firstEndingAfter(blocks, view.from); i < blocks.length; i++) {
      const block = blocks[i] as Block;
      if (block.start > view.until) break;
      const at = Math.floor(x(block.start));
      const isSame = at === column && x(block.end) < column + 1;
      if (!isSame && longest !== undefined) this.#drawBlock(view, longest);
      if (!isSame || longest === undefined || block.durationMillis > longest.durationMillis)
        longest = block;
      column = at;
    }
    if (longest !== undefined) this.#drawBlock(view, longest);
    context.globalAlpha = 1;
    const selected = this.#selected;
    if (selected === undefined) return;
    const from = x(selected.start);
    const width = Math.max(2, x(selected.end) - from);
    context.fillStyle = this.#colors.band;
    context.fillRect(from, BLOCKS_TOP, width, this.#height);
    context.strokeStyle = this.#colors.strong;
    context.lineWidth = 2;
    context.strokeRect(from - 1, BLOCKS_TOP - 1, width + 2, BLOCKS_HEIGHT + 2);
  }

  #drawBlock(view: View, block: Block): void {
    const { context } = view;
    const from = view.x(block.start);
    const width = Math.max(1, view.x(block.end) - from);
    context.fillStyle = this.#colorOf(block);
    context.globalAlpha = this.#isFaded(block) ? 0.2 : 1;
    context.fillRect(from, BLOCKS_TOP, width, BLOCKS_HEIGHT);
    if (width > 60) this.#drawName(view, block, from, width);
  }

  #drawName(view: View, block: Block, start: number, width: number): void {
    const from = Math.max(start, 0);
    const room = Math.min(start + width, view.width) - from - 10;
    const letters = Math.floor(room / 6.2);
    if (letters < 6) return;
    const { name } = block.fn;
    view.context.fillStyle = this.#colors.onColor;
    view.context.textAlign = 'left';
    const text = name.length > letters ? `${name.slice(0, letters - 1)}…` : name;
    view.context.fillText(text, from + 5, BLOCKS_TOP + BLOCKS_HEIGHT / 2 + 0.5);
  }

  #drawRequests({ context, from: shownFrom, until: shownUntil, x }: View): void {
    const height = this.#rowHeight();
    const bar = height > 3 ? height - 1 : height;
    const drawnUntil: number[] = [];
    for (const request of this.#model.requests ?? []) {
      if (request.end < shownFrom || request.start > shownUntil) continue;
      const y = REQUESTS_TOP + request.row * height;
      const start = x(request.start);
      const end = x(request.end);
      // It would be in a pixel that is drawn already.
      if (end < (drawnUntil[request.row] ?? 0)) continue;
      drawnUntil[request.row] = Math.max(start + 1, end);
      context.fillStyle = this.#colors.request;
      context.fillRect(start, y, Math.max(1, end - start), bar);
      for (const { block } of request.waits) {
        const from = x(Math.max(block.start, request.start));
        const until = x(Math.min(block.end, request.end));
        context.globalAlpha = this.#isFaded(block) ? 0.2 : 0.85;
        context.fillStyle = this.#colorOf(block);
        context.fillRect(from, y, Math.max(1, until - from), bar);
      }
      context.globalAlpha = 1;
    }
  }

  #rowHeight = () => Math.max(2, Math.min(12, REQUESTS_HEIGHT / this.#rows));
  #colorOf = ({ fn }: Block) => this.#colors.fns[fn.color] as string;
  #isFaded = ({ fn }: Block) => this.#highlighted !== undefined && fn.key !== this.#highlighted;

  /** Where the pointer is; undefined if it is elsewhere. */
  #pointed(plot = this.#plot): Pointed | undefined {
    const { left = -1, top = -1 } = plot?.cursor ?? {};
    if (plot === undefined || left < 0) return undefined;
    const millisOf = (pixels: number) => 1000 * plot.posToVal(pixels, 'x');
    return { left, top, time: millisOf(left), perPixel: millisOf(1) - millisOf(0) };
  }

  #blockAt({ top, time, perPixel }: Pointed): Block | undefined {
    if (top < BLOCKS_TOP - 4 || top > BLOCKS_TOP + BLOCKS_HEIGHT + 4) return undefined;
    const { blocks } = this.#model;
    // Some pixels are forgiven: a block may be one pixel wide.
    const slack = 4 * perPixel;
    let best: Block | undefined;
    let nearest = slack;
    for (let i = firstEndingAfter(blocks, time - slack); i < blocks.length; i++) {
      const block = blocks[i] as Block;
      if (block.start > time + slack) break;
      const distance = Math.max(0, block.start - time, time - block.end);
      if (distance > nearest) continue;
      const isLonger = best === undefined || block.durationMillis > best.durationMillis;
      if (distance < nearest || isLonger) best = block;
      nearest = distance;
    }
    return best;
  }

  #requestAt({ top, time, perPixel }: Pointed): Request | undefined {
    if (top < REQUESTS_TOP || this.#rows === 0) return undefined;
    const row = Math.floor((top - REQUESTS_TOP) / this.#rowHeight());
    const slack = 2 * perPixel;
    return this.#model.requests?.find(
      (request) =>
        request.row === row && request.start - slack <= time && time <= request.end + slack,
    );
  }

  #click(): void {
    const at = this.#pointed();
    const block = at && (this.#blockAt(at) ?? this.#requestAt(at)?.waits[0]?.block);
    if (block !== undefined) this.#select(block);
  }

  #hover(plot: uPlot): void {
    const at = this.#pointed(plot);
    const block = at && this.#blockAt(at);
    const request = block === undefined && at ? this.#requestAt(at) : undefined;
    plot.over.classList.toggle('on-block', (block ?? request) !== undefined);
    const lines = block ? ofBlock(block) : request ? ofRequest(request) : this.#ofTime(plot, at);
    this.#tooltip.hidden = lines.length === 0;
    if (at === undefined || lines.length === 0) return;
    this.#tooltip.replaceChildren(...lines.map((line) => h('div', {}, line)));
    const { clientWidth } = plot.over;
    const isLeft = at.left > clientWidth / 2;
    this.#tooltip.style.left = isLeft ? '' : `${at.left + 14}px`;
    this.#tooltip.style.right = isLeft ? `${clientWidth - at.left + 14}px` : '';
    this.#tooltip.style.top = `${at.top + 12}px`;
  }

  #ofTime({ cursor: { idx }, data }: uPlot, at: Pointed | undefined): string[] {
    if (at === undefined || idx == null || at.top > LINES_HEIGHT) return [];
    const busy = data[1]?.[idx];
    const lag = data[2]?.[idx];
    return [
      clockTime(this.#model.report.startTimeMillis + at.time),
      ...(lag == null ? [] : [`lag at most ${duration(lag)}`]),
      ...(busy == null ? [] : [`utilization ${percent(busy)}`]),
    ];
  }

  #onKey(event: KeyboardEvent): void {
    const { blocks } = this.#model;
    const at = this.#selected?.number;
    const found: Record<string, Block | undefined> = {
      ArrowRight: blocks[at === undefined ? 0 : at + 1],
      ArrowLeft: blocks[at === undefined ? blocks.length - 1 : at - 1],
      Home: blocks[0],
      End: blocks[blocks.length - 1],
    };
    if (!(event.key in found) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const block = found[event.key];
    if (block !== undefined) this.#select(block);
  }
}

/** What is drawn: times in milliseconds, pixels from the left of the plot. */
interface View {
  readonly context: CanvasRenderingContext2D;
  readonly width: number;
  readonly from: number;
  readonly until: number;
  x(time: number): number;
}

interface Pointed {
  readonly left: number;
  readonly top: number;
  readonly time: number;
  readonly perPixel: number;
}

/** uPlot's own takes longer: it is asked for ten thousands of blocks. */
function xIn(plot: uPlot): (time: number) => number {
  const zero = plot.valToPos(0, 'x');
  const perMilli = (plot.valToPos(1, 'x') - zero) / 1000;
  return (time) => zero + time * perMilli;
}

const ofBlock = (block: Block) => [
  `${block.fn.name}: ${duration(block.durationMillis)}`,
  ...(block.operation === undefined ? [] : [block.operation]),
  ...(block.waitedRequests ? [`${count(block.waitedRequests, 'request')} waited`] : []),
];

function ofRequest({ route, durationMillis, stalledMillis, queuedMillis, waits }: Request) {
  const shown = waits.reduce((sum, { millis }) => sum + millis, 0);
  const others = stalledMillis + queuedMillis - shown;
  return [
    `${route}: ${duration(durationMillis)}`,
    `of which ${duration(stalledMillis)} it waited`,
    ...(queuedMillis > 0 ? [`waited ${duration(queuedMillis)} before`] : []),
    ...(others >= 1 ? [`${duration(others)} of it for blocks that are not shown`] : []),
  ];
}

/** Blocks may overlap a little: a pile-up comes after its parts. */
function firstEndingAfter(blocks: readonly Block[], time: number): number {
  let low = 0;
  let high = blocks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((blocks[middle] as Block).end < time) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

/** uPlot shows all points: the first and the last one, without values, are the ends of the run. */
function pointsOf({ report, elapsed }: Model): uPlot.AlignedData {
  const { timeline, startTimeMillis } = report;
  const { slotMillis, maxLagMillis, utilization } = timeline;
  const offset = timeline.startTimeMillis - startTimeMillis;
  const times = maxLagMillis.map((_, i) => (offset + (i + 0.5) * slotMillis) / 1000);
  const padded = (values: readonly (number | null)[]) => [null, ...values, null];
  return [[0, ...times, elapsed / 1000], padded(utilization), padded(maxLagMillis)];
}

const seconds = (time: number) => duration(1000 * time);

/** Those of the theme that is shown: a canvas takes no variables. */
function colors() {
  const probe = document.body.appendChild(h('i', { hidden: true }));
  const of = (name: string) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const found = {
    text: of('muted'),
    strong: of('text'),
    grid: of('line'),
    lag: of('lag'),
    lagArea: of('lag-area'),
    busy: of('busy'),
    request: of('native'),
    band: of('band'),
    onColor: of('on-color'),
    // The last one is that of all functions without a colour of their own.
    fns: Array.from({ length: COLORS + 1 }, (_, i) => of(`fn-${i}`)),
  };
  probe.remove();
  return found;
}
