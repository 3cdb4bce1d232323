/**
 * The run over time: lag and utilization by uPlot; below it, on the same scale, the blocks in the
 * colours of their functions and the requests that waited for them.
 */
import uPlot from 'uplot';
import type { LagTimeline } from '../lag-timeline.ts';
import { button, h, legend } from './elements.ts';
import { clockTime, count, duration, percent } from './format.ts';
import { assignRows, type Block, COLORS, type Model, type Request } from './model.ts';

const PLOT_HEIGHT = 150;
const BLOCKS_TOP = 6;
const BLOCKS_HEIGHT = 26;
const REQUESTS_TOP = BLOCKS_TOP + BLOCKS_HEIGHT + 22;
const REQUESTS_HEIGHT = 160;
const MAX_ROWS = 80;
const GUTTER = 56;
const PIXELS_PER_POINT = 4;
const ZOOM = 1.6;
/** The shortest time that fills the width. */
const MIN_RANGE_MILLIS = 5;
/** Steps of the time axis, in seconds. */
const STEPS = [
  0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900,
  1800, 3600, 7200, 14_400, 28_800, 86_400, 172_800, 604_800,
];
const HINT =
  'Arrow keys select the block before or after, Home and End the first and the last one. ' +
  'Plus and minus zoom, 0 shows the whole run, Shift and an arrow key pan.';

export class Timeline {
  readonly element: HTMLElement;
  readonly #model: Model;
  readonly #select: (block: Block) => void;
  readonly #plotHolder = h('div', { class: 'plot', 'aria-hidden': 'true' });
  readonly #canvas = h('canvas', { 'aria-hidden': 'true' });
  readonly #tooltip = h('div', { class: 'tooltip', hidden: true, 'aria-hidden': 'true' });
  readonly #stage: HTMLElement;
  readonly #range = h('output', { class: 'range' });
  readonly #rows: number;
  #plot: uPlot | undefined;
  /** Slots of the timeline that are one point of the plot. */
  #merged = 0;
  #from = 0;
  #until: number;
  #selected: Block | undefined;
  #highlighted: number | undefined;
  #isDrawn = true;
  /** To ask the element for each block would take most of the time. */
  #stageWidth = 0;
  #colors = colors();

  constructor(model: Model, select: (block: Block) => void) {
    this.#model = model;
    this.#select = select;
    this.#until = model.elapsed;
    this.#rows = assignRows(model.requests ?? [], MAX_ROWS);
    const blocks = count(model.blocks.length, 'block');
    this.#stage = h(
      'div',
      {
        class: 'stage',
        tabindex: 0,
        role: 'application',
        'aria-label': `Timeline of ${duration(model.elapsed)} with ${blocks}`,
        'aria-describedby': 'timeline-hint',
      },
      this.#plotHolder,
      this.#canvas,
      this.#tooltip,
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
        h('span', { class: 'hint' }, 'Drag to pan, Ctrl + wheel to zoom, click a block.'),
      ),
      this.#stage,
      h('p', { id: 'timeline-hint', class: 'for-screen-readers' }, HINT),
    );
    this.#listen();
    new ResizeObserver(() => this.redraw()).observe(this.#stage);
  }

  select(block: Block): void {
    this.#selected = block;
    const length = this.#until - this.#from;
    if (block.end < this.#from || block.start > this.#until)
      this.#show(block.start - length / 2, block.start + length / 2);
    this.#draw();
  }

  /** Only this function's blocks are in full colour; all are if it is undefined. */
  highlight(key: number | undefined): void {
    this.#highlighted = key;
    this.#draw();
  }

  /** After the size or the colours have changed. */
  redraw(): void {
    const width = this.#stage.clientWidth;
    if (width === 0) return;
    this.#stageWidth = width;
    this.#colors = colors();
    this.#plot?.destroy();
    this.#plot = undefined;
    this.#makePlot(width);
    const rows = this.#rows * this.#rowHeight();
    const height = rows > 0 ? REQUESTS_TOP + rows + 6 : REQUESTS_TOP - 14;
    const scale = devicePixelRatio;
    this.#canvas.width = width * scale;
    this.#canvas.height = height * scale;
    this.#canvas.style.width = `${width}px`;
    this.#canvas.style.height = `${height}px`;
    this.#drawNow();
  }

  #makePlot(width: number): void {
    const { text, grid, lag, lagArea, busy } = this.#colors;
    const font = '11px system-ui, sans-serif';
    const axis = { stroke: text, font, grid: { stroke: grid, width: 1 }, ticks: { show: false } };
    this.#plot = new uPlot(
      {
        width,
        height: PLOT_HEIGHT,
        padding: [12, 0, 0, 0],
        legend: { show: false },
        cursor: { show: false },
        scales: {
          x: { time: false, range: () => [this.#from / 1000, this.#until / 1000] },
          lag: { range: (_u, _min, max) => [0, Math.max(10, max * 1.08)] },
          busy: { range: [0, 1] },
        },
        axes: [
          { ...axis, incrs: STEPS, space: 80, size: 26, values: (_u, ticks) => ticks.map(seconds) },
          { ...axis, scale: 'lag', size: GUTTER, values: (_u, ticks) => ticks.map(duration) },
          {
            ...axis,
            scale: 'busy',
            side: 1,
            size: GUTTER,
            grid: { show: false },
            splits: () => [0, 0.5, 1],
            values: (_u, ticks) => ticks.map((share) => `${100 * share} %`),
          },
        ],
        series: [
          {},
          { scale: 'busy', stroke: busy, width: 1.25, points: { show: false } },
          { scale: 'lag', stroke: lag, fill: lagArea, width: 1.5, points: { show: false } },
        ],
      },
      [[], [], []],
      this.#plotHolder,
    );
    this.#merged = 0;
  }

  #left = () => GUTTER;
  #width = () => Math.max(1, this.#stageWidth - 2 * GUTTER);
  #x = (time: number) =>
    this.#left() + ((time - this.#from) / (this.#until - this.#from)) * this.#width();
  #timeAt = (x: number) =>
    this.#from + ((x - this.#left()) / this.#width()) * (this.#until - this.#from);

  #show(from: number, until: number): void {
    const { elapsed } = this.#model;
    const length = Math.min(elapsed, Math.max(Math.min(MIN_RANGE_MILLIS, elapsed), until - from));
    const middle = (from + until) / 2;
    this.#from = Math.max(0, Math.min(elapsed - length, middle - length / 2));
    this.#until = this.#from + length;
    this.#draw();
  }

  #zoom(factor: number, around = (this.#from + this.#until) / 2): void {
    const before = (around - this.#from) * factor;
    this.#show(around - before, around + (this.#until - around) * factor);
  }

  #pan(millis: number): void {
    const length = this.#until - this.#from;
    const from = Math.max(0, Math.min(this.#model.elapsed - length, this.#from + millis));
    this.#show(from, from + length);
  }

  /** Fewer points than pixels: lines that go up and down in each pixel take long to draw. */
  #setPoints(): void {
    const { timeline, startTimeMillis } = this.#model.report;
    if (this.#plot === undefined) return;
    const points = (this.#until - this.#from) / timeline.slotMillis;
    const merged = 2 ** Math.ceil(Math.log2(points / (this.#width() / PIXELS_PER_POINT)));
    if (merged === this.#merged) return;
    this.#merged = merged;
    const offset = timeline.startTimeMillis - startTimeMillis;
    this.#plot.setData(pointsOf(timeline, offset, Math.max(1, merged)), false);
  }

  #draw(): void {
    if (!this.#isDrawn) return;
    this.#isDrawn = false;
    requestAnimationFrame(() => this.#drawNow());
  }

  #drawNow(): void {
    this.#isDrawn = true;
    this.#setPoints();
    this.#plot?.setScale('x', { min: this.#from / 1000, max: this.#until / 1000 });
    const context = this.#canvas.getContext('2d');
    if (context === null) return;
    const scale = devicePixelRatio;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, this.#canvas.width, this.#canvas.height);
    this.#drawLabels(context);
    context.save();
    context.beginPath();
    context.rect(this.#left(), 0, this.#width(), this.#canvas.height);
    context.clip();
    this.#drawBlocks(context);
    this.#drawRequests(context);
    context.restore();
    this.#range.textContent = `${duration(this.#from)} to ${duration(this.#until)}`;
  }

  #drawLabels(context: CanvasRenderingContext2D): void {
    const { text, grid } = this.#colors;
    context.fillStyle = text;
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    context.textAlign = 'right';
    context.fillText('blocks', this.#left() - 8, BLOCKS_TOP + BLOCKS_HEIGHT / 2);
    context.fillStyle = grid;
    context.fillRect(this.#left(), BLOCKS_TOP + BLOCKS_HEIGHT, this.#width(), 1);
    if (this.#rows === 0) return;
    context.fillStyle = text;
    context.textAlign = 'left';
    context.fillText('requests that waited', this.#left(), REQUESTS_TOP - 9);
  }

  #drawBlocks(context: CanvasRenderingContext2D): void {
    const { blocks } = this.#model;
    // Of those that share a pixel, the longest is drawn.
    let longest: Block | undefined;
    let column = Number.NaN;
    for (let i = firstEndingAfter(blocks, this.#from); i < blocks.length; i++) {
      const block = blocks[i] as Block;
      if (block.start > this.#until) break;
      const x = Math.floor(this.#x(block.start));
      const isSame = x === column && this.#x(block.end) < column + 1;
      if (!isSame && longest !== undefined) this.#drawBlock(context, longest);
      if (!isSame || longest === undefined || block.durationMillis > longest.durationMillis)
        longest = block;
      column = x;
    }
    if (longest !== undefined) this.#drawBlock(context, longest);
    context.globalAlpha = 1;
    const selected = this.#selected;
    if (selected === undefined) return;
    const x = this.#x(selected.start);
    const width = Math.max(2, this.#x(selected.end) - x);
    context.fillStyle = this.#colors.band;
    context.fillRect(x, BLOCKS_TOP, width, this.#canvas.height);
    context.strokeStyle = this.#colors.strong;
    context.lineWidth = 2;
    context.strokeRect(x - 1, BLOCKS_TOP - 1, width + 2, BLOCKS_HEIGHT + 2);
  }

  #drawBlock(context: CanvasRenderingContext2D, block: Block): void {
    const x = this.#x(block.start);
    const width = Math.max(1, this.#x(block.end) - x);
    context.fillStyle = this.#colorOf(block);
    context.globalAlpha = this.#isFaded(block) ? 0.2 : 1;
    context.fillRect(x, BLOCKS_TOP, width, BLOCKS_HEIGHT);
    if (width > 60) this.#drawName(context, block, x, width);
  }

  #drawName(context: CanvasRenderingContext2D, block: Block, x: number, width: number): void {
    const from = Math.max(x, this.#left());
    const room = Math.min(x + width, this.#left() + this.#width()) - from - 10;
    const letters = Math.floor(room / 6.2);
    if (letters < 6) return;
    const { name } = block.fn;
    context.fillStyle = this.#colors.onColor;
    context.textAlign = 'left';
    const text = name.length > letters ? `${name.slice(0, letters - 1)}…` : name;
    context.fillText(text, from + 5, BLOCKS_TOP + BLOCKS_HEIGHT / 2 + 0.5);
  }

  #drawRequests(context: CanvasRenderingContext2D): void {
    const height = this.#rowHeight();
    const bar = height > 3 ? height - 1 : height;
    const drawnUntil: number[] = [];
    for (const request of this.#model.requests ?? []) {
      if (request.end < this.#from || request.start > this.#until) continue;
      const y = REQUESTS_TOP + request.row * height;
      const x = this.#x(request.start);
      const end = this.#x(request.end);
      // It would be in a pixel that is drawn already.
      if (end < (drawnUntil[request.row] ?? 0)) continue;
      drawnUntil[request.row] = Math.max(x + 1, end);
      context.fillStyle = this.#colors.request;
      context.fillRect(x, y, Math.max(1, end - x), bar);
      for (const { block } of request.waits) {
        const from = this.#x(Math.max(block.start, request.start));
        const until = this.#x(Math.min(block.end, request.end));
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

  #blockAt(x: number, y: number): Block | undefined {
    if (y < BLOCKS_TOP - 4 || y > BLOCKS_TOP + BLOCKS_HEIGHT + 4) return undefined;
    const { blocks } = this.#model;
    const time = this.#timeAt(x);
    // Some pixels are forgiven: a block may be one pixel wide.
    const slack = (4 / this.#width()) * (this.#until - this.#from);
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

  #requestAt(x: number, y: number): Request | undefined {
    if (y < REQUESTS_TOP || this.#rows === 0) return undefined;
    const row = Math.floor((y - REQUESTS_TOP) / this.#rowHeight());
    const time = this.#timeAt(x);
    const slack = (2 / this.#width()) * (this.#until - this.#from);
    return this.#model.requests?.find(
      (request) =>
        request.row === row && request.start - slack <= time && time <= request.end + slack,
    );
  }

  #listen(): void {
    const stage = this.#stage;
    stage.addEventListener('keydown', (event) => this.#onKey(event));
    stage.addEventListener(
      'wheel',
      (event) => {
        const isPan = Math.abs(event.deltaX) > Math.abs(event.deltaY);
        if (!event.ctrlKey && !event.metaKey && !isPan) return;
        event.preventDefault();
        const perPixel = (this.#until - this.#from) / this.#width();
        if (isPan) this.#pan(event.deltaX * perPixel);
        else this.#zoom(Math.exp(event.deltaY / 200), this.#timeAt(this.#pointOf(event).x));
      },
      { passive: false },
    );
    this.#listenToPointers();
  }

  #listenToPointers(): void {
    const stage = this.#stage;
    let latest: number | undefined;
    let moved = 0;
    stage.addEventListener('pointerdown', (event) => {
      latest = this.#pointOf(event).x;
      moved = 0;
    });
    stage.addEventListener('pointermove', (event) => {
      if (latest === undefined) return this.#hover(event);
      const { x } = this.#pointOf(event);
      moved += Math.abs(x - latest);
      // Not at once: a click would go to whatever has captured the pointer.
      if (moved > 3 && !stage.hasPointerCapture(event.pointerId))
        stage.setPointerCapture(event.pointerId);
      this.#tooltip.hidden = true;
      this.#pan((latest - x) * ((this.#until - this.#from) / this.#width()));
      latest = x;
    });
    const end = (event: PointerEvent) => {
      const isClick = event.type === 'pointerup' && latest !== undefined && moved <= 3;
      latest = undefined;
      if (!isClick) return;
      const { x, y } = this.#pointOf(event);
      const block = this.#blockAt(x, y) ?? this.#requestAt(x, y)?.waits[0]?.block;
      if (block !== undefined) this.#select(block);
    };
    stage.addEventListener('pointerup', end);
    stage.addEventListener('pointercancel', end);
    stage.addEventListener('pointerleave', () => {
      this.#tooltip.hidden = true;
    });
  }

  #pointOf(event: MouseEvent): { x: number; y: number } {
    const { left, top } = this.#canvas.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  }

  #hover(event: PointerEvent): void {
    const { x, y } = this.#pointOf(event);
    const block = this.#blockAt(x, y);
    const request = block === undefined ? this.#requestAt(x, y) : undefined;
    this.#stage.classList.toggle('on-block', (block ?? request) !== undefined);
    const lines = block ? ofBlock(block) : request ? ofRequest(request) : this.#ofTime(x, y);
    this.#tooltip.hidden = lines.length === 0;
    if (lines.length === 0) return;
    this.#tooltip.replaceChildren(...lines.map((line) => h('div', {}, line)));
    const stage = this.#stage.getBoundingClientRect();
    const left = event.clientX - stage.left;
    const isLeft = left > stage.width / 2;
    this.#tooltip.style.left = isLeft ? '' : `${left + 14}px`;
    this.#tooltip.style.right = isLeft ? `${stage.width - left + 14}px` : '';
    this.#tooltip.style.top = `${event.clientY - stage.top + 12}px`;
  }

  #ofTime(x: number, y: number): string[] {
    const { timeline, startTimeMillis } = this.#model.report;
    if (timeline === undefined || y > 0 || x < this.#left()) return [];
    const time = this.#timeAt(x) + startTimeMillis - timeline.startTimeMillis;
    const slot = Math.floor(time / timeline.slotMillis);
    const lag = timeline.maxLagMillis[slot];
    const busy = timeline.utilization[slot];
    return [
      clockTime(startTimeMillis + this.#timeAt(x)),
      ...(lag == null ? [] : [`lag at most ${duration(lag)}`]),
      ...(busy == null ? [] : [`utilization ${percent(busy)}`]),
    ];
  }

  #onKey(event: KeyboardEvent): void {
    const { blocks } = this.#model;
    const at = this.#selected?.number;
    const length = this.#until - this.#from;
    const actions: Record<string, () => void> = {
      ArrowRight: () => this.#step(blocks[at === undefined ? 0 : at + 1]),
      ArrowLeft: () => this.#step(blocks[at === undefined ? blocks.length - 1 : at - 1]),
      Home: () => this.#step(blocks[0]),
      End: () => this.#step(blocks[blocks.length - 1]),
      '+': () => this.#zoom(1 / ZOOM, this.#selected?.start),
      '=': () => this.#zoom(1 / ZOOM, this.#selected?.start),
      '-': () => this.#zoom(ZOOM, this.#selected?.start),
      '0': () => this.#show(0, this.#model.elapsed),
    };
    const pans: Record<string, () => void> = {
      ArrowRight: () => this.#pan(length / 5),
      ArrowLeft: () => this.#pan(-length / 5),
    };
    const action = (event.shiftKey ? pans[event.key] : undefined) ?? actions[event.key];
    if (action === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  }

  #step(block: Block | undefined): void {
    if (block !== undefined) this.#select(block);
  }
}

const ofBlock = (block: Block) => [
  `${block.fn.name}: ${duration(block.durationMillis)}`,
  ...(block.operation === undefined ? [] : [block.operation]),
  ...(block.stalled.length === 0 ? [] : [`${count(block.stalled.length, 'request')} waited`]),
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

function pointsOf(
  timeline: ReturnType<LagTimeline['read']>,
  offset: number,
  merged: number,
): uPlot.AlignedData {
  const { slotMillis, maxLagMillis, utilization } = timeline;
  const starts = maxLagMillis.map((_, i) => i).filter((i) => i % merged === 0);
  const known = (values: readonly (number | null)[], start: number) =>
    values.slice(start, start + merged).filter((value) => value !== null);
  const orNull = (value: number) => (Number.isFinite(value) ? value : null);
  return [
    starts.map((start) => (offset + (start + merged / 2) * slotMillis) / 1000),
    starts.map((start) => {
      const shares = known(utilization, start);
      return orNull(shares.reduce((sum, share) => sum + share, 0) / shares.length);
    }),
    starts.map((start) => orNull(Math.max(...known(maxLagMillis, start)))),
  ];
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
    request: of('request'),
    band: of('band'),
    onColor: of('on-color'),
    // The last one is that of all functions without a colour of their own.
    fns: Array.from({ length: COLORS + 1 }, (_, i) => of(`fn-${i}`)),
  };
  probe.remove();
  return found;
}
