/** The tables: functions by harm, routes, who makes whom wait, blocks. */
import type { Quantiles, RouteStall, RouteTimes } from '../src/outputs/summary/requests.ts';
import { harmOf } from '../src/outputs/summary/stall-totals.ts';
import type { BlockSummary, PeriodSummary, PlaceSummary } from '../src/outputs/summary/summary.ts';
import { aside, code, h, place, swatch } from './elements.ts';
import { causeOf, clockTime, count, duration, percent, shortPath } from './format.ts';
import type { Block, Fn, Model } from './model.ts';

interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => Node | string;
  /** Sorts by it, the largest first; by text from A on. */
  readonly by: (row: Row) => number | string;
  readonly isNumber?: boolean;
}

const SHOWN = 20;

/** A table that is sorted by a click on a heading; some rows at first, the others on demand. */
function table<Row>(
  caption: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  sortedBy?: number,
): HTMLElement {
  let sorted = [...rows];
  let by = sortedBy;
  let isUp = false;
  let shown = SHOWN;
  const head = h('tr');
  const body = h('tbody');
  const more = h('button', { type: 'button', class: 'more', click: () => showMore() });
  const draw = () => {
    head.replaceChildren(
      ...columns.map(({ title, isNumber }, i) => {
        const isSorted = by === i;
        const order = isSorted ? (isUp ? 'ascending' : 'descending') : undefined;
        return h(
          'th',
          { scope: 'col', 'aria-sort': order, class: isNumber && 'number' },
          h('button', { type: 'button', click: () => sort(i) }, title, arrow(order)),
        );
      }),
    );
    body.replaceChildren(
      ...sorted
        .slice(0, shown)
        .map((row) =>
          h(
            'tr',
            {},
            ...columns.map(({ cell, isNumber }, i) =>
              i === 0
                ? h('th', { scope: 'row' }, cell(row))
                : h('td', { class: isNumber && 'number' }, cell(row)),
            ),
          ),
        ),
    );
    more.hidden = sorted.length <= shown;
    more.textContent = `Show more of ${sorted.length}`;
  };
  const showMore = () => {
    shown *= 5;
    draw();
  };
  const sort = (column: number) => {
    const value = columns[column]?.by;
    if (value === undefined) return;
    isUp = by === column ? !isUp : typeof value(rows[0] as Row) === 'string';
    by = column;
    const order = isUp ? 1 : -1;
    sorted = [...rows].sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      return x === y ? 0 : order * (x < y ? -1 : 1);
    });
    draw();
    head.querySelectorAll<HTMLElement>('th')[column]?.querySelector('button')?.focus();
  };
  draw();
  return h(
    'div',
    { class: 'table' },
    h(
      'table',
      {},
      h('caption', { class: 'for-screen-readers' }, caption),
      h('thead', {}, head),
      body,
    ),
    more,
  );
}

const arrow = (order: string | undefined) =>
  h(
    'span',
    { class: 'arrow', 'aria-hidden': 'true' },
    order === 'ascending' ? ' ▲' : order ? ' ▼' : '',
  );

export class Tables {
  constructor(
    private readonly model: Model,
    private readonly events: { selectFn(fn: Fn): void; selectBlock(block: Block): void },
  ) {}

  /** The places of a period, those that made others wait longest first. */
  functions(caption: string, period: PeriodSummary): HTMLElement {
    const isHarmKnown = period.places.some((row) => row.waitedRequests != null);
    const columns: Column<PlaceSummary>[] = [
      text(
        'Function',
        ({ functionName = '' }) => functionName,
        (row) => this.#function(row),
      ),
      ...(isHarmKnown
        ? [
            time<PlaceSummary>('Made others wait', harmOf),
            number<PlaceSummary>('Requests', ({ waitedRequests = 0 }) => waitedRequests),
          ]
        : []),
      time('Blocked', ({ totalMillis }) => totalMillis),
      number(
        'Share of time',
        ({ share }) => share,
        ({ share }) => percent(share),
      ),
      number('Blocks', ({ blocks }) => blocks),
      time('Longest', ({ longestMillis }) => longestMillis),
      text(
        'Cause',
        (row) => causeOf(row.cause, row.gcMillis / row.totalMillis) ?? row.cause ?? '–',
      ),
    ];
    const element = table(caption, columns, period.places, 1);
    const others = period.otherPlaces;
    if (others !== undefined) {
      const what = `${count(others.blocks, 'block')}, ${duration(others.totalMillis)}`;
      element.append(aside(`Other functions: ${what}.`));
    }
    return element;
  }

  operations(rows: NonNullable<BlockSummary['operations']>): HTMLElement {
    return table<(typeof rows)[number]>(
      'Routes that blocked most',
      [
        text(
          'Route',
          ({ operation }) => operation,
          ({ operation }) => code(operation),
        ),
        number('Blocks', ({ blocks }) => blocks),
        time('Blocked', ({ totalMillis }) => totalMillis),
      ],
      rows,
      2,
    );
  }

  routes(): HTMLElement {
    const { routes = [], otherRoutes } = this.model.report.summary;
    const others = otherRoutes === undefined ? [] : [{ route: 'other routes', ...otherRoutes }];
    const pair = (title: string, of: (times: Quantiles) => number) =>
      number(title, of, (row: RouteTimes) => {
        const [as, without] = [of(row.withQueue), of(row.withoutStalls)].map(duration);
        if (as === without) return as as string;
        return h('span', { class: 'pair' }, as, ' → ', h('strong', {}, without));
      });
    return table<RouteTimes>(
      'Routes as clients saw them, and without the time that their requests waited',
      [
        text(
          'Route',
          ({ route }) => route,
          ({ route }) => code(route),
        ),
        number('Requests', ({ count: n }) => n),
        number('Waited', ({ waitedRequests }) => waitedRequests),
        time('Waited for', harmOf),
        pair('p50 → without waits', ({ p50Millis }) => p50Millis),
        pair('p99 → without waits', ({ p99Millis }) => p99Millis),
        pair('max → without waits', ({ maxMillis }) => maxMillis),
      ],
      [...routes, ...others],
      3,
    );
  }

  stalls(): HTMLElement {
    const { stalls: known = [], otherStalls } = this.model.report.summary;
    const stalls: RouteStall[] = [...known, ...(otherStalls ? [otherStalls] : [])];
    return table<RouteStall>(
      'Which function made which route wait',
      [
        text(
          'Function',
          ({ functionName = '' }) => functionName,
          (row) => this.#function(row),
        ),
        text(
          'Route',
          ({ route = '' }) => route,
          ({ route = 'other routes' }) => code(route),
        ),
        number('Requests', ({ requests }) => requests),
        time('Waited for', harmOf),
      ],
      stalls,
      3,
    );
  }

  blocks(): HTMLElement {
    const byLength = [...this.model.blocks].sort((a, b) => b.durationMillis - a.durationMillis);
    const at = (block: Block) =>
      h(
        'button',
        { type: 'button', class: 'link', click: () => this.events.selectBlock(block) },
        clockTime(block.startTimeMillis),
      );
    return table<Block>(
      'Blocks',
      [
        { title: 'At', by: ({ start }) => -start, cell: at },
        time('Length', (row) => row.durationMillis),
        text(
          'Function',
          ({ fn }) => fn.name,
          ({ fn }) => this.name(fn),
        ),
        text('Cause', ({ cause = '–' }) => cause),
        text(
          'For',
          ({ operation = '–' }) => operation,
          ({ operation = '–' }) => code(operation),
        ),
        number('Requests that waited', ({ waitedRequests = 0 }) => waitedRequests),
      ],
      byLength,
      1,
    );
  }

  #function(row: Pick<PlaceSummary, 'functionName' | 'file' | 'line' | 'column'>): HTMLElement {
    const { file, line, column } = row;
    const fn = this.model.fnOf(row as PlaceSummary);
    const { cwd } = this.model.report.process;
    return h(
      'div',
      {},
      this.name(fn),
      file !== undefined && h('br'),
      file !== undefined && place(file, line, column, shortPath(file, cwd)),
    );
  }

  name(fn: Fn): HTMLElement {
    return h(
      'button',
      {
        type: 'button',
        class: 'link name',
        title: 'Show its flame graph',
        click: () => this.events.selectFn(fn),
      },
      swatch(`fn-${fn.color}`),
      code(fn.name),
    );
  }
}

function text<Row>(
  title: string,
  by: (row: Row) => string,
  cell: Column<Row>['cell'] = by,
): Column<Row> {
  return { title, by, cell };
}

function number<Row>(
  title: string,
  by: (row: Row) => number,
  cell: Column<Row>['cell'] = (row) => by(row).toLocaleString('en'),
): Column<Row> {
  return { title, by, cell, isNumber: true };
}

/** Nothing is a dash. */
const time = <Row>(title: string, by: (row: Row) => number) =>
  number(title, by, (row) => (by(row) === 0 ? '–' : duration(by(row))));
