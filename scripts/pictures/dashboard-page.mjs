// Runs in a browser, bundled: the panels of the shipped dashboard by the components that Grafana
// publishes on npm. What needs a Grafana server (heatmap, tables from Tempo, links) is left out.
import { createTheme, dateTime, FieldType, getDisplayProcessor, toDataFrame } from '@grafana/data';
import { BigValue, GlobalStyles, PanelChrome, ThemeContext, TimeSeries } from '@grafana/ui';
import { TableNG } from '@grafana/ui/unstable';
import { createElement as h } from 'react';
import { createRoot } from 'react-dom/client';

const { panels, start, end, note, columns, rows, width } = globalThis.PICTURE;
const theme = createTheme({ colors: { mode: 'dark' } });
const CELL = 30;
const GAP = 8;
const PADDING = 8;
/** A function's name, with the file of one that has none. */
const NAME_WIDTH = 230;
const RANGE = { from: dateTime(start * 1000), to: dateTime(end * 1000) };
const timeRange = { ...RANGE, raw: RANGE };

/** What an override of the dashboard says of a field. */
function overridesOf({ overrides }, name) {
  return overrides
    .filter(({ matcher }) => matcher.id === 'byName' && matcher.options === name)
    .flatMap(({ properties }) => properties)
    .filter(({ id }) => id !== 'links');
}

/** As Grafana has them if a dashboard says nothing. */
const DEFAULT_THRESHOLDS = {
  mode: 'absolute',
  steps: [
    { color: 'green', value: -Infinity },
    { color: 'red', value: 80 },
  ],
};
const DEFAULT_COLORS = {
  stat: 'thresholds',
  table: 'thresholds',
  timeseries: 'palette-classic',
};

function configured(frame, { fieldConfig, type }, index) {
  frame.fields.forEach((field, position) => {
    const name = field.config.displayName ?? field.name;
    field.config = {
      ...structuredClone(fieldConfig.defaults),
      displayName: field.config.displayName,
    };
    for (const { id, value } of overridesOf(fieldConfig, name)) {
      const parts = id.split('.');
      const last = parts.pop();
      let target = field.config;
      for (const part of parts) {
        target[part] ??= {};
        target = target[part];
      }
      target[last] = value;
    }
    if (field.type === FieldType.time) field.config = {};
    else field.config.color ??= { mode: DEFAULT_COLORS[type] };
    field.config.thresholds ??= DEFAULT_THRESHOLDS;
    field.state = {
      seriesIndex: index + Math.max(0, position - 1),
      displayName: field.config.displayName,
    };
    field.display = getDisplayProcessor({ field, theme, timeZone: 'utc' });
  });
  return frame;
}

/** `{{label}}` and `p99` as they stand in the dashboard. */
function legend(format, metric) {
  return (format ?? '').replaceAll(/\{\{(\w+)\}\}/g, (_all, label) => metric[label] ?? '');
}

const numberOf = (value) => (value === 'NaN' ? null : Number(value));

function series(panel) {
  return panel.queries
    .flatMap(({ result, legendFormat }) =>
      result.map(({ metric, values, value }) => {
        const points = values ?? [value];
        return toDataFrame({
          fields: [
            { name: 'Time', type: FieldType.time, values: points.map(([time]) => time * 1000) },
            {
              name: 'Value',
              type: FieldType.number,
              config: { displayName: legend(legendFormat, metric) || panel.title },
              values: points.map(([, text]) => numberOf(text)),
            },
          ],
        });
      }),
    )
    .map((frame, index) => configured(frame, panel, index));
}

function stat(panel, size) {
  const [frame] = series(panel);
  const field = frame?.fields[1];
  const values = field?.values.filter((value) => value !== null) ?? [];
  const value = field
    ? field.display(values.at(-1))
    : { text: panel.fieldConfig.defaults.noValue, numeric: Number.NaN };
  const sparkline = field && values.length > 1 ? { y: field, x: frame.fields[0] } : undefined;
  return h(BigValue, {
    ...size,
    theme,
    value,
    sparkline,
    colorMode: panel.options.colorMode,
    graphMode: panel.options.graphMode,
    justifyMode: panel.options.justifyMode,
    textMode: 'value',
  });
}

function timeseries(panel, size) {
  const frames = series(panel);
  return h(TimeSeries, {
    ...size,
    frames,
    timeRange,
    timeZone: 'utc',
    structureRev: 1,
    legend: { ...panel.options.legend, displayMode: 'list', calcs: [] },
  });
}

/** The instant queries of a table side by side, by the labels that they have in common. */
function table(panel, size) {
  const rows = new Map();
  const labels = new Set();
  panel.queries.forEach(({ result, refId }) => {
    for (const { metric, value } of result) {
      for (const label of Object.keys(metric)) labels.add(label);
      const key = JSON.stringify(Object.entries(metric).sort());
      const row = rows.get(key) ?? { ...metric };
      rows.set(key, row);
      row[`Value #${refId}`] = numberOf(value[1]);
    }
  });
  // As the dashboard does: who made others wait longest, then who blocked longest.
  const list = [...rows.values()].sort(
    (a, b) => b['Value #D'] - a['Value #D'] || b['Value #A'] - a['Value #A'],
  );
  const names = [...labels, ...panel.queries.map(({ refId }) => `Value #${refId}`)];
  const frame = toDataFrame({
    fields: names
      .filter((name) => list.some((row) => row[name] !== undefined))
      .map((name) => ({
        name,
        type: labels.has(name) ? FieldType.string : FieldType.number,
        values: list.map((row) => row[name] ?? null),
      })),
  });
  configured(frame, panel, 0);
  for (const field of frame.fields) {
    field.config.custom = { ...field.config.custom, filterable: false };
  }
  const [first] = frame.fields;
  first.config.custom = { ...first.config.custom, width: NAME_WIDTH };
  return h(TableNG, { ...size, data: frame, timeRange, cellHeight: 'sm' });
}

const DRAW = { stat, timeseries, table };

function Panel(panel) {
  const { x, y, w, h: cells } = panel.gridPos;
  const unit = (width - GAP * (columns + 1)) / columns;
  const box = { width: w * unit + (w - 1) * GAP, height: cells * CELL + (cells - 1) * GAP };
  const style = { position: 'absolute', left: GAP + x * (unit + GAP), top: GAP + y * (CELL + GAP) };
  return h(
    'div',
    { key: panel.title, style: { ...style, ...box } },
    h(
      PanelChrome,
      { ...box, title: panel.title, padding: panel.type === 'table' ? 'none' : 'md' },
      (innerWidth, innerHeight) =>
        DRAW[panel.type](panel, { width: innerWidth, height: innerHeight }),
    ),
  );
}

const top = GAP + rows * (CELL + GAP);
document.body.style.margin = '0';
createRoot(document.getElementById('root')).render(
  h(
    ThemeContext.Provider,
    { value: theme },
    h(GlobalStyles),
    h(
      'div',
      {
        style: {
          position: 'relative',
          width,
          height: top + 32,
          background: theme.colors.background.canvas,
        },
      },
      panels.map(Panel),
      h(
        'div',
        {
          style: {
            position: 'absolute',
            left: 2 * PADDING,
            top,
            color: theme.colors.text.secondary,
            fontSize: 12,
          },
        },
        note,
      ),
    ),
  ),
);
