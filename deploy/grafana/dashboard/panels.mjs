/**
 * What the panels have in common: data sources, colours, thresholds, and the form of each kind of
 * panel.
 */
import {
  AxisPlacement,
  BigValueColorMode,
  BigValueGraphMode,
  BigValueJustifyMode,
  BigValueTextMode,
  FieldColorModeId,
  GraphDrawStyle,
  GraphThresholdsStyleMode,
  HeatmapCellLayout,
  LegendDisplayMode,
  MappingType,
  PercentChangeColorMode,
  SortOrder,
  SpecialValueMatch,
  StackingMode,
  TableCellDisplayMode,
  TableCellHeight,
  ThresholdsMode,
  TooltipDisplayMode,
  VisibilityMode,
  VizOrientation,
} from '@grafana/schema';
import {
  HeatmapColorMode,
  HeatmapColorScale,
} from '@grafana/schema/dist/esm/raw/composable/heatmap/panelcfg/x/HeatmapPanelCfg_types.gen';

/**
 * @typedef {import('@grafana/schema').Panel} Panel
 * @typedef {import('@grafana/schema').FieldConfig} FieldConfig
 * @typedef {import('@grafana/schema').Threshold} Threshold
 * @typedef {import('@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen').Options} TimeSeriesOptions
 * @typedef {import('@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen').FieldConfig} TimeSeriesField
 * @typedef {import('@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen').Options} StatOptions
 * @typedef {import('@grafana/schema/dist/esm/raw/composable/table/panelcfg/x/TablePanelCfg_types.gen').Options} TableOptions
 * @typedef {import('@grafana/schema/dist/esm/raw/composable/table/panelcfg/x/TablePanelCfg_types.gen').FieldConfig} TableField
 * @typedef {import('@grafana/schema/dist/esm/raw/composable/heatmap/panelcfg/x/HeatmapPanelCfg_types.gen').Options} HeatmapOptions
 *
 * @typedef {{ expr: string, legendFormat?: string, instant?: true,
 *   format?: 'table' | 'heatmap' }} PromQuery
 * @typedef {{ unit: string, decimals?: number, min?: number, max?: number, steps?: Threshold[],
 *   noValue?: string }} Scale
 * @typedef {{ title: string, description: string }} Titled
 */

export const PROMETHEUS = { type: 'prometheus', uid: '${prometheus}' };
export const TEMPO = { type: 'tempo', uid: '${tempo}' };

/** Metrics are exported once a minute by default: shorter steps would be empty. */
const STEP = '1m';

const GREEN = 'green';
const YELLOW = 'yellow';
const ORANGE = 'orange';
const RED = 'red';
/** Of what is not known. */
const GREY = '#808080';

const NONE = 'none';

/** A lag: 100 ms is felt, 200 ms pages, from 1 s on clients and health checks give up. */
export const WAIT_STEPS = [
  { color: GREEN, value: null },
  { color: YELLOW, value: 0.1 },
  { color: ORANGE, value: 0.2 },
  { color: RED, value: 1 },
];
/** Length of a block: every one is a thing to mend, one of 1 s or more is an alert. */
export const BLOCK_STEPS = [
  { color: GREEN, value: null },
  { color: YELLOW, value: 0.1 },
  { color: ORANGE, value: 0.5 },
  { color: RED, value: 1 },
];
/** Share of time or of requests. Half of an instance's time is an alert. */
export const SHARE_STEPS = [
  { color: GREEN, value: null },
  { color: YELLOW, value: 0.05 },
  { color: ORANGE, value: 0.2 },
  { color: RED, value: 0.5 },
];
/** What should not be there at all. */
export const NONE_STEPS = [
  { color: GREEN, value: null },
  { color: RED, value: 1 },
];

/** The same kind has the same colour everywhere. */
export const KIND_COLORS = { callback: 'blue', microtasks: 'purple', 'pile-up': 'orange' };

/**
 * @param {PromQuery[]} queries
 * @returns {Record<string, unknown>[]}
 */
const promTargets = (queries) =>
  queries.map(({ instant, format, ...query }, i) => ({
    refId: String.fromCharCode(65 + i),
    datasource: PROMETHEUS,
    editorMode: 'code',
    format: format ?? (instant ? 'table' : 'time_series'),
    instant: instant === true,
    range: instant !== true,
    ...query,
  }));

/** @param {Scale} scale */
const fieldDefaults = ({ unit, decimals, min, max, steps, noValue }) => ({
  unit,
  ...(decimals !== undefined && { decimals }),
  ...(min !== undefined && { min }),
  ...(max !== undefined && { max }),
  ...(noValue !== undefined && { noValue }),
  ...(steps !== undefined && { thresholds: { mode: ThresholdsMode.Absolute, steps } }),
});

/**
 * One number, with how it went.
 * @param {Titled & { scale: Scale, query: PromQuery }} panel
 * @returns {Panel}
 */
export function stat({ title, description, scale, query }) {
  const { noValue = NONE } = scale;
  /** @type {StatOptions} */
  const options = {
    colorMode: BigValueColorMode.Background,
    graphMode: query.instant ? BigValueGraphMode.None : BigValueGraphMode.Area,
    justifyMode: BigValueJustifyMode.Auto,
    orientation: VizOrientation.Auto,
    percentChangeColorMode: PercentChangeColorMode.Standard,
    reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
    showPercentChange: false,
    textMode: BigValueTextMode.Auto,
    wideLayout: true,
  };
  return {
    type: 'stat',
    title,
    description,
    datasource: PROMETHEUS,
    interval: STEP,
    fieldConfig: {
      defaults: {
        ...fieldDefaults(scale),
        color: { mode: FieldColorModeId.Thresholds },
        // A percentile of nothing: where there were no blocks, that is good; where there is no lag,
        // it is not known.
        mappings: [
          {
            type: MappingType.SpecialValue,
            options: {
              match: SpecialValueMatch.NullAndNan,
              result: { text: noValue, color: noValue === NONE ? GREEN : GREY, index: 0 },
            },
          },
        ],
      },
      overrides: [],
    },
    options: { ...options },
    targets: promTargets([
      { ...query, ...(query.instant && { format: /** @type {const} */ ('table') }) },
    ]),
  };
}

/**
 * A graph over time.
 * @param {Titled & { scale: Scale, queries: PromQuery[], bars?: boolean, shares?: boolean,
 *   colors?: Record<string, string> }} panel
 *   `bars`: stacked bars, for what is counted; `colors`: by series
 * @returns {Panel}
 */
export function graph({ title, description, scale, queries, bars = false, colors = {} }) {
  /** @type {TimeSeriesOptions} */
  const options = {
    legend: {
      calcs: bars ? ['sum'] : ['lastNotNull', 'max'],
      displayMode: LegendDisplayMode.Table,
      placement: 'bottom',
      showLegend: true,
      sortBy: bars ? 'Total' : 'Max',
      sortDesc: true,
    },
    tooltip: { mode: TooltipDisplayMode.Multi, sort: SortOrder.Descending, hideZeros: true },
  };
  /** @type {TimeSeriesField} */
  const custom = {
    axisPlacement: AxisPlacement.Auto,
    drawStyle: bars ? GraphDrawStyle.Bars : GraphDrawStyle.Line,
    fillOpacity: bars ? 80 : 5,
    lineWidth: bars ? 0 : 1,
    // A percentile of nothing is no value: the point stands for itself.
    showPoints: bars ? VisibilityMode.Never : VisibilityMode.Auto,
    spanNulls: false,
    ...(bars && { stacking: { mode: StackingMode.Normal, group: 'A' } }),
    ...(scale.steps !== undefined &&
      !bars && { thresholdsStyle: { mode: GraphThresholdsStyleMode.Dashed } }),
  };
  return {
    type: 'timeseries',
    title,
    description,
    datasource: PROMETHEUS,
    interval: STEP,
    fieldConfig: {
      defaults: {
        ...fieldDefaults(scale),
        color: { mode: FieldColorModeId.PaletteClassicByName },
        custom: { ...custom },
      },
      overrides: Object.entries(colors).map(([name, fixedColor]) => ({
        matcher: { id: 'byName', options: name },
        properties: [{ id: 'color', value: { mode: FieldColorModeId.Fixed, fixedColor } }],
      })),
    },
    options: { ...options },
    targets: promTargets(queries),
  };
}

/**
 * @param {Titled & { unit: string, expr: string }} panel
 * @returns {Panel}
 */
export function heatmap({ title, description, unit, expr }) {
  /** @type {HeatmapOptions} */
  const options = {
    calculate: false,
    cellGap: 1,
    cellValues: { unit: 'short', decimals: 0 },
    color: {
      mode: HeatmapColorMode.Scheme,
      scheme: 'Oranges',
      scale: HeatmapColorScale.Exponential,
      // Nearly everything falls into the lowest buckets; what does not is what matters.
      exponent: 0.25,
      fill: 'dark-orange',
      steps: 64,
      reverse: false,
    },
    exemplars: { color: 'rgba(255,0,255,0.7)' },
    filterValues: { le: 1e-9 },
    legend: { show: true },
    rowsFrame: { layout: HeatmapCellLayout.auto },
    showValue: VisibilityMode.Never,
    tooltip: { mode: TooltipDisplayMode.Single, yHistogram: true, showColorScale: true },
    yAxis: { axisPlacement: AxisPlacement.Left, unit, reverse: false },
  };
  return {
    type: 'heatmap',
    title,
    description,
    datasource: PROMETHEUS,
    interval: STEP,
    fieldConfig: { defaults: {}, overrides: [] },
    options: { ...options },
    targets: promTargets([{ expr, legendFormat: '{{le}}', format: 'heatmap' }]),
  };
}

/**
 * @typedef {{ name: string, title: string, scale?: Scale, bar?: boolean, colored?: boolean,
 *   width?: number, links?: { title: string, url: string }[] }} Column
 *   `name`: of the field; `bar`, `colored`: how its values are shown
 */

/** @param {Column} column */
const columnOverride = ({ name, title, scale, bar, colored, width, links }) => ({
  matcher: { id: 'byName', options: name },
  properties: [
    { id: 'displayName', value: title },
    // What the table says when it has no rows is not what it says in an empty cell.
    { id: 'noValue', value: '' },
    ...Object.entries(scale ? fieldDefaults(scale) : {}).map(([id, value]) => ({ id, value })),
    ...(width ? [{ id: 'custom.width', value: width }] : []),
    ...(bar
      ? [{ id: 'custom.cellOptions', value: { type: TableCellDisplayMode.Gauge, mode: 'basic' } }]
      : []),
    ...(colored
      ? [
          {
            id: 'custom.cellOptions',
            value: { type: TableCellDisplayMode.ColorBackground, mode: 'basic' },
          },
        ]
      : []),
    ...(links ? [{ id: 'links', value: links }] : []),
  ],
});

/**
 * @param {Titled & { columns: Column[], noValue: string,
 *   sortBy?: { displayName: string, desc: boolean }[] }} panel
 * @returns {Panel}
 */
function table({ title, description, columns, noValue, sortBy }) {
  /** @type {TableOptions} */
  const options = {
    cellHeight: TableCellHeight.Sm,
    frameIndex: 0,
    showHeader: true,
    ...(sortBy && { sortBy }),
  };
  /** @type {TableField} */
  const custom = {
    align: 'auto',
    cellOptions: { type: TableCellDisplayMode.Auto },
    filterable: true,
    inspect: false,
  };
  return {
    type: 'table',
    title,
    description,
    fieldConfig: {
      defaults: { custom: { ...custom }, noValue },
      overrides: columns.map(columnOverride),
    },
    options: { ...options },
  };
}

/**
 * A table of single numbers: one row for each set of labels, one column for each query.
 * @param {Titled & { columns: Column[], noValue: string, queries: string[], sortBy: string,
 *   thenBy?: string, limit: number }} panel
 *   `sortBy`, `thenBy`: the titles of columns; the largest come first
 * @returns {Panel}
 */
export function promTable({ queries, sortBy, thenBy, limit, ...panel }) {
  const sorted = thenBy === undefined ? [sortBy] : [sortBy, thenBy];
  return {
    ...table({ ...panel, sortBy: sorted.map((displayName) => ({ displayName, desc: true })) }),
    datasource: PROMETHEUS,
    interval: STEP,
    targets: promTargets(queries.map((expr) => ({ expr, instant: true }))),
    transformations: [
      { id: 'merge', options: {} },
      {
        id: 'organize',
        options: {
          excludeByName: { Time: true },
          indexByName: Object.fromEntries(panel.columns.map(({ name }, i) => [name, i])),
        },
      },
      // One transformation sorts by one field, and leaves what is equal in order.
      ...sorted.toReversed().map((by) => ({
        id: 'sortBy',
        options: {
          sort: [{ field: panel.columns.find(({ title }) => title === by)?.name, desc: true }],
        },
      })),
      { id: 'limit', options: { limitField: limit } },
    ],
  };
}

/**
 * A table of spans from Tempo, the newest first. The span's id opens its trace.
 * @param {Titled & { columns: Column[], noValue: string, query: string, limit: number }} panel
 * @returns {Panel}
 */
export function spanTable({ query, limit, ...panel }) {
  return {
    ...table({ ...panel, sortBy: [{ displayName: 'Start', desc: true }] }),
    datasource: TEMPO,
    targets: [
      {
        refId: 'A',
        datasource: TEMPO,
        queryType: 'traceql',
        tableType: 'spans',
        query,
        limit,
        spss: 20,
        filters: [],
      },
    ],
    transformations: [
      {
        id: 'organize',
        options: {
          excludeByName: { traceIdHidden: true, name: true },
          indexByName: Object.fromEntries(panel.columns.map(({ name }, i) => [name, i])),
        },
      },
    ],
  };
}
