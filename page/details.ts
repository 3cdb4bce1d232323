/** All that is known of one block. */
import { requestsText } from '../src/core/emit/requests-text.ts';
import { adviceOf } from '../src/outputs/summary/advice.ts';
import { aside, code, h, place, swatch } from './elements.ts';
import { clockTime, count, duration, percent, shortPath } from './format.ts';
import type { Block, Model } from './model.ts';
import { sourceOf } from './source.ts';

const SHOWN_REQUESTS = 20;
const SHOWN_FRAMES = 30;

const KINDS = {
  callback: 'one callback',
  microtasks: 'promise reactions or nextTicks',
  'pile-up': 'several callbacks, none of which reaches the threshold alone',
};

export function blockDetails(model: Model, block: Block): HTMLElement {
  const { cwd } = model.report.process;
  const { durationMillis, code: where, leaf, nativeCall, traceId } = block;
  const share = (millis: number | undefined) =>
    millis === undefined
      ? undefined
      : `${duration(millis)} (${percent(Math.min(1, millis / durationMillis))})`;
  const facts: [string, Node | string | undefined][] = [
    ['When', `${clockTime(block.startTimeMillis)}, ${duration(block.start)} after the start`],
    ['Length', duration(durationMillis)],
    [
      'Place',
      where?.file === undefined
        ? undefined
        : place(where.file, where.line, where.column, shortPath(where.file, cwd)),
    ],
    ['Called by', block.calledBy],
    ['Innermost', nativeCall ? code(nativeCall.name) : leaf && code(leaf.functionName)],
    ['Input', nativeCall?.size === undefined ? undefined : nativeCall.size.toLocaleString('en')],
    ['Loads', block.requires && shortPath(block.requires, cwd)],
    ['Made of', block.requests && requestsText(block.requests)],
    ['Kind', block.kind && KINDS[block.kind]],
    ['Callbacks', block.callbacks.toLocaleString('en')],
    ['Async resource', block.asyncResourceType],
    ['Cause', block.cause],
    ['What to do', adviceOf(block, block.requires, block.isStartUp)],
    ['CPU', share(block.cpuTimeMillis)],
    ['Garbage collection', share(block.gcTimeMillis)],
    ['Native code', share(block.nativeTimeMillis)],
    ['Span', block.operation === undefined ? undefined : code(block.operation)],
    ['Trace', traceId && code(traceId)],
    ['Stack samples', block.samples.toLocaleString('en')],
    ['Open spans that waited', block.stalledSpans?.toLocaleString('en')],
    ['Spans that began right after it', block.queuedSpans?.toLocaleString('en')],
  ];
  return h(
    'div',
    { class: 'details' },
    h(
      'h3',
      { tabindex: -1 },
      swatch(`fn-${block.fn.color}`),
      code(block.fn.name),
      ` blocked for ${duration(durationMillis)}`,
    ),
    h(
      'dl',
      {},
      ...facts
        .filter(([, value]) => value !== undefined && value !== '')
        .map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))),
    ),
    sourceOf(model, [block], where),
    stackOf(model, block),
    stalledBy(model, block),
  );
}

/** Of the stacks that were sampled in it, the one that ran longest; innermost first. */
function stackOf(model: Model, block: Block): HTMLElement {
  const { frames, files, nodes } = model.report.stacks;
  let heaviest = -1;
  let millis = 0;
  for (let i = 0; i < block.stacks.length; i += 2) {
    if ((block.stacks[i + 1] as number) <= millis) continue;
    heaviest = block.stacks[i] as number;
    millis = block.stacks[i + 1] as number;
  }
  const { cwd } = model.report.process;
  const items: HTMLElement[] = [];
  for (let node = heaviest; node >= 0; node = nodes[2 * node] as number) {
    const [name, file, line] = frames[nodes[2 * node + 1] as number] ?? ['', -1, 0];
    const path = files[file];
    const where = path !== undefined && place(path, line, undefined, shortPath(path, cwd));
    items.push(h('li', {}, code(name), ' ', where));
  }
  if (items.length === 0) return part('Stack', aside('No stack sample was taken in this block.'));
  const hidden = items.length - SHOWN_FRAMES;
  return part(
    'Stack',
    h('ol', {}, ...items.slice(0, SHOWN_FRAMES)),
    hidden > 0 && aside(`and ${count(hidden, 'frame')} around it`),
  );
}

function stalledBy({ requests }: Model, { stalled, waitedRequests = 0 }: Block): HTMLElement {
  const title = 'Requests that waited for it';
  if (requests === undefined) return part(title, aside('Requests are not recorded.'));
  if (waitedRequests === 0) return part(title, aside('None.'));
  const sorted = [...stalled].sort((a, b) => b.millis - a.millis);
  const hidden = waitedRequests - Math.min(sorted.length, SHOWN_REQUESTS);
  const items = sorted.slice(0, SHOWN_REQUESTS).map(({ request, millis }) => {
    const { route, queuedMillis, durationMillis, traceId } = request;
    const waited = ` waited ${duration(millis)} of ${duration(queuedMillis + durationMillis)} `;
    const trace = traceId && h('span', { class: 'aside' }, `trace ${traceId}`);
    return h('li', {}, code(route), waited, trace);
  });
  return part(
    title,
    h('ul', {}, ...items),
    hidden > 0 && aside(`and ${count(hidden, 'request')} more`),
  );
}

const part = (title: string, ...children: (Node | false)[]) =>
  h('div', {}, h('h4', {}, title), ...children);
