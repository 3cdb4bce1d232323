/** The report page: reads the data that stands in it, and draws everything once. */

import type { ReportDocument } from '../src/outputs/html-report/document.ts';
import { adviceOf, runDelayText } from '../src/outputs/summary/advice.ts';
import { harmOf } from '../src/outputs/summary/stall-totals.ts';
import type { PlaceSummary } from '../src/outputs/summary/summary.ts';
import { blockDetails } from './details.ts';
import {
  aside,
  button,
  code,
  empty,
  h,
  legend,
  place,
  saveFile,
  section,
  swatch,
} from './elements.ts';
import { FlameGraph } from './flame-graph.ts';
import { count, duration, percent, shortPath } from './format.ts';
import { ANONYMOUS, type Block, COLORS, type Fn, longestOf, Model } from './model.ts';
import { sourceOf } from './source.ts';
import { Tables } from './tables.ts';
import { Timeline } from './timeline.ts';

const text = document.getElementById('event-loop-report')?.textContent ?? '';
start(JSON.parse(text) as ReportDocument);

function start(report: ReportDocument): void {
  const model = new Model(report);
  const flame = new FlameGraph(model);
  const details = h('div');
  const announcement = h('p', { class: 'for-screen-readers', 'aria-live': 'polite' });
  const all = button('Show all blocks', () => {
    setAddress('#all');
    showAll();
  });
  const source = h('div');
  const flamePart = section(
    'Flame graph',
    h(
      'div',
      { class: 'toolbar' },
      all,
      legend({ app: 'application', package: 'packages', native: 'Node.js' }),
      h('span', { class: 'aside' }, 'Click a frame to zoom, Escape zooms out.'),
    ),
    source,
    flame.element,
  );

  // What is shown is in the address of the page, so that it can be sent.
  let address = '';
  const setAddress = (hash: string) => {
    address = hash;
    location.replace(hash);
  };
  const openAddress = () => {
    const [, what, digits] = /^#(block|function)=(-?\d+)$/.exec(location.hash) ?? [];
    const n = Number(digits);
    const block = what === 'block' ? model.blocks[n] : model.blocks.find(({ fn }) => fn.key === n);
    if (block === undefined || location.hash === address) return;
    if (what === 'function') return selectFn(block.fn);
    selectBlock(block);
    details.scrollIntoView();
  };
  const selectBlock = (block: Block) => {
    setAddress(`#block=${block.number}`);
    timeline.select(block);
    details.replaceChildren(blockDetails(model, block));
    source.replaceChildren();
    flame.show([block], `${block.fn.name}, one block`, block.code);
    all.hidden = false;
    const { fn, durationMillis, waitedRequests = 0 } = block;
    announcement.textContent =
      `Block ${block.number + 1} of ${model.blocks.length}: ${fn.name}, ` +
      `${duration(durationMillis)}, ${count(waitedRequests, 'request')} waited for it`;
  };
  const selectFn = (fn: Fn) => {
    setAddress(`#function=${fn.key}`);
    timeline.highlight(fn.key);
    const longest = longestOf(fn);
    const advice = longest && adviceOf(longest, longest.requires, longest.isStartUp);
    source.replaceChildren(
      advice === undefined ? '' : h('p', {}, advice),
      sourceOf(model, fn.blocks, longest?.code) ?? '',
    );
    flame.show(fn.blocks, `${fn.name}, ${count(fn.blocks.length, 'block')}`, fn.code);
    all.hidden = false;
    announcement.textContent = `The flame graph shows ${fn.name}`;
    flamePart.scrollIntoView({ block: 'nearest', behavior: 'smooth' });
  };
  const showAll = () => {
    timeline.highlight(undefined);
    source.replaceChildren();
    const atStart = report.summary.startUp?.blocks ?? 0;
    const ofThem = atStart > 0 ? `, ${atStart} of them at start-up` : '';
    const { blocks: left } = report.dropped;
    const leftOut = left > 0 ? `, without the shortest ${left}` : '';
    flame.show(model.blocks, `All ${count(model.blocks.length, 'block')}${ofThem}${leftOut}`);
    all.hidden = true;
  };
  const timeline = new Timeline(model, selectBlock);
  const tables = new Tables(model, { selectFn, selectBlock });
  const hasBlocks = model.blocks.length > 0;
  const main = h(
    'main',
    {},
    headline(model),
    worstSource(model),
    tiles(model),
    section('Timeline', timeline.element, labels(model, tables), whyLag(report), details),
    section('Functions by harm', functionsOf(model, tables)),
    hasBlocks && flamePart,
    section('Routes', routesOf(model, tables)),
    startUpOf(model, tables),
    hasBlocks && section('Blocks', tables.blocks()),
    about(report),
    announcement,
  );
  document.getElementById('app')?.replaceChildren(header(report), main);
  document.title = titleOf(report);
  showAll();
  timeline.redraw();
  openAddress();
  window.addEventListener('hashchange', openAddress);
  const dark = matchMedia('(prefers-color-scheme: dark)');
  dark.addEventListener('change', () => timeline.redraw());
}

/** `app.js, 28/11/2026, 14:03:27 - Event loop report`, for tabs, bookmarks and saved files. */
function titleOf({ process, startTimeMillis }: ReportDocument): string {
  const script = process.script && shortPath(process.script, process.cwd);
  const time = new Date(startTimeMillis).toLocaleString();
  return `${script ? `${script}, ` : ''}${time} - Event loop report`;
}

function header(report: ReportDocument): HTMLElement {
  const { script, pid, threadId, nodeVersion, cwd } = report.process;
  const facts = [
    script && shortPath(script, cwd),
    `process ${pid}`,
    threadId > 0 && `worker thread ${threadId}`,
    `Node.js ${nodeVersion}`,
    new Date(report.startTimeMillis).toLocaleString(),
    `${duration(report.endTimeMillis - report.startTimeMillis)} long`,
  ];
  const links = threadPages(report).flatMap(([name, href]) => [' · ', h('a', { href }, name)]);
  return h(
    'header',
    {},
    h('h1', {}, 'Event loop report'),
    aside(facts.filter((fact) => fact !== false && fact !== '').join(' · '), ...links),
  );
}

/** The pages of other threads of the process: their names and addresses, beside this one. */
function threadPages({ process: { threadId }, workers = [] }: ReportDocument): [string, string][] {
  const { pathname } = location;
  const suffix = `-worker-${threadId}`;
  if (pathname.includes(suffix)) return [['main thread', pathname.replace(suffix, '')]];
  return workers.map((id) => [
    `worker thread ${id}`,
    pathname.replace(/(\.[^./]*)?$/, `-worker-${id}$1`),
  ]);
}

/** What to mend first, in one sentence. */
function headline(model: Model): HTMLElement {
  const { thresholdMillis } = model.report;
  const worst = worstOf(model);
  if (worst === undefined)
    return h(
      'p',
      { class: 'headline' },
      `Nothing blocked the event loop for ${duration(thresholdMillis)} or longer.`,
    );
  const { waitedRequests = 0, functionName, file, line, column } = worst;
  const why = worst.unknown === undefined ? '' : ` (${worst.unknown})`;
  const name = functionName === undefined ? `Unknown code${why}` : code(functionName);
  const isNamed = functionName !== ANONYMOUS;
  const longest = longestOf(model.fnOf(worst));
  const advice = longest && adviceOf(longest, longest.requires, longest.isStartUp);
  const native = longest?.nativeCall?.name;
  const { cwd } = model.report.process;
  return h(
    'p',
    { class: 'headline' },
    native !== undefined && code(native),
    native !== undefined && ' in ',
    isNamed && name,
    file !== undefined && isNamed && ' ',
    file !== undefined && place(file, line, column, shortPath(file, cwd)),
    longest?.calledBy !== undefined && `, called by ${longest.calledBy},`,
    ' blocked the event loop for ',
    h('strong', {}, duration(worst.totalMillis)),
    ` in ${count(worst.blocks, 'block')}`,
    waitedRequests > 0 && `; ${count(waitedRequests, 'request')} waited `,
    waitedRequests > 0 && h('strong', {}, duration(harmOf(worst))),
    waitedRequests > 0 && ' for it',
    '.',
    advice !== undefined && ` ${advice}`,
  );
}

/** The worst place that has a name, if any has. */
function worstOf({ report }: Model): PlaceSummary | undefined {
  const { places } = report.summary;
  return places.find(({ functionName }) => functionName !== undefined) ?? places[0];
}

function worstSource(model: Model): HTMLElement | undefined {
  const worst = worstOf(model);
  const fn = worst && model.fnOf(worst);
  return fn && sourceOf(model, fn.blocks, longestOf(fn)?.code);
}

function tiles({ report }: Model): HTMLElement {
  const { timeline, summary } = report;
  const known = (values: readonly (number | null)[] = []) =>
    values.filter((value) => value !== null);
  const lags = known(timeline.maxLagMillis);
  const busy = known(timeline.utilization);
  const mean = busy.reduce((sum, share) => sum + share, 0) / busy.length;
  const tile = (name: string, value: string, more: string) =>
    h(
      'div',
      { class: 'tile' },
      h('dt', {}, name),
      h('dd', {}, h('strong', {}, value), aside(more)),
    );
  const { waitedRequests } = summary;
  return h(
    'dl',
    { class: 'tiles' },
    tile('Blocked', duration(summary.totalMillis), `${percent(summary.share)} of the time`),
    tile(
      'Blocks',
      summary.blocks.toLocaleString('en'),
      `longest ${duration(summary.longestMillis)}`,
    ),
    waitedRequests !== undefined &&
      tile(
        'Requests that waited',
        waitedRequests.toLocaleString('en'),
        `${duration(harmOf(summary))} in all`,
      ),
    lags.length > 0 && tile('Longest lag', duration(Math.max(...lags)), 'that an event waited'),
    busy.length > 0 && tile('Utilization', percent(mean), 'of the time busy'),
  );
}

function functionsOf(model: Model, tables: Tables): HTMLElement {
  const { summary } = model.report;
  if (summary.places.length === 0) return nothingBlocked(model.report);
  const { operations } = summary;
  return h(
    'div',
    {},
    tables.functions('Functions that blocked, by harm', summary),
    operations && h('h3', {}, 'Routes that blocked most'),
    operations && tables.operations(operations),
  );
}

function nothingBlocked({ thresholdMillis }: ReportDocument): HTMLElement {
  return empty(
    `Nothing blocked for ${duration(thresholdMillis)} or longer.`,
    'Shorter blocks are recorded with a lower threshold: ',
    code('--threshold=20'),
    ' of the command, or ',
    code('OTEL_INSTRUMENTATION_EVENT_LOOP_THRESHOLD_MILLIS=20'),
    '.',
  );
}

/** A block in the timeline may be too narrow for a name. */
function labels({ blocks }: Model, tables: Tables): HTMLElement {
  const fns = [...new Set(blocks.map(({ fn }) => fn))].sort((a, b) => a.color - b.color);
  const colored = fns.filter(({ color }) => color < COLORS);
  const others = fns.length - colored.length;
  return h(
    'p',
    { class: 'legend labels' },
    ...colored.map((fn) => tables.name(fn)),
    others > 0 && h('span', {}, swatch(`fn-${COLORS}`), count(others, 'other function')),
  );
}

function whyLag({ summary }: ReportDocument): HTMLElement {
  const delay = runDelayText(summary);
  return aside(
    delay !== undefined && `Lag without a block is ${delay}. `,
    'The line shows how long an event would wait that arrives now: ' +
      'all of the block at its start, nothing at its end.',
  );
}

function routesOf(model: Model, tables: Tables): HTMLElement {
  const { routes, stalls } = model.report.summary;
  if (routes === undefined || routes.length === 0) {
    return model.requests === undefined
      ? empty(
          'The requests are not known.',
          'Whom the blocks made wait is known from spans: start the application with ',
          code('--import opentelemetry-instrumentation-event-loop/register'),
          ', or with ',
          code('--register'),
          ' of the command, or add the EventLoopSpanProcessor to your OpenTelemetry SDK.',
        )
      : empty(
          'No request has ended.',
          'They are spans of kind SERVER and CONSUMER; without an SDK, those of HTTP servers.',
        );
  }
  return h(
    'div',
    {},
    tables.routes(),
    aside(
      'As clients saw them: the duration of each request, with what it waited before its span ' +
        'began. That is estimated: a request arrives at any moment of a block alike. Without ' +
        'waits: less all that it waited for blocks. What waited in a queue behind a stall, of a ' +
        'database for example, is still in it.',
    ),
    stalls !== undefined && stalls.length > 0 && h('h3', {}, 'Who makes whom wait'),
    stalls !== undefined && stalls.length > 0 && tables.stalls(),
  );
}

function startUpOf(model: Model, tables: Tables): HTMLElement | undefined {
  const { startUp } = model.report.summary;
  if (startUp === undefined) return undefined;
  const { loadMillis, blocks, totalMillis, elapsedMillis } = startUp;
  const blocked = `${count(blocks, 'block')}, ${duration(totalMillis)}`;
  const sentences = [
    loadMillis !== undefined && `${duration(loadMillis)} until the event loop first turned.`,
    blocks > 0 && `${blocked} of the ${duration(elapsedMillis)} until a server listened.`,
  ];
  return section(
    'Start-up',
    h('p', {}, sentences.filter((sentence) => sentence !== false).join(' ')),
    startUp.places.length > 0 && tables.functions('Functions that blocked at start-up', startUp),
  );
}

function about(report: ReportDocument): HTMLElement {
  const { dropped, process, thresholdMillis } = report;
  const lines = [
    `Blocks of ${duration(thresholdMillis)} or longer. Package version ${process.packageVersion}.`,
    dropped.blocks > 0 &&
      `Left out: the shortest ${count(dropped.blocks, 'block')}; the tables count them.`,
    dropped.requests > 0 &&
      `Left out: ${count(dropped.requests, 'request')} that waited least; the tables count them.`,
    dropped.frames > 0 &&
      `Left out: the innermost ${count(dropped.frames, 'frame')} of rare stacks.`,
  ];
  return section(
    'About this report',
    ...lines.filter((line) => line !== false).map((line) => h('p', {}, line)),
    h(
      'p',
      {},
      'The data stands in this file as JSON, for other programs: ',
      code('<script type="application/json" id="event-loop-report">'),
      '. ',
      button('Save it as a file', () => saveFile('event-loop-report.json', text)),
    ),
  );
}
