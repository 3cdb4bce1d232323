// What Grafana reads: compared with what it is made from, and with the rules that Grafana itself
// does not enforce.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { parse } from 'yaml';
import { expressions } from '../../tools/dashboard-queries.cjs';

const read = (/** @type {string} */ path) => readFile(new URL(path, import.meta.url), 'utf8');

/** @typedef {{ id: number, type: string, title: string, description?: string, gridPos: { x: number, y: number, w: number, h: number }, targets?: any[], fieldConfig: any }} AnyPanel */

/** @type {{ panels: AnyPanel[], templating: { list: any[] } }} */
const dashboard = JSON.parse(await read('dashboards/event-loop.json'));
const shown = dashboard.panels.filter(({ type }) => type !== 'row');

/** @type {{ groups: { rules: any[] }[] }} */
const prometheus = parse(await read('../prometheus/rules.yaml'));
/** @type {{ groups: { rules: any[] }[] }} */
const grafana = parse(await read('provisioning/alerting/event-loop.yaml'));

test('Grafana alerts exactly where Prometheus does', () => {
  const expected = prometheus.groups
    .flatMap(({ rules }) => rules)
    .filter(({ alert }) => alert !== undefined);
  const made = grafana.groups.flatMap(({ rules }) => rules);
  assert.ok(expected.length > 0);
  assert.deepEqual(
    made.map((rule) => ({
      alert: rule.title,
      expr: rule.data[0].model.expr,
      ...(rule.for !== '0s' && { for: rule.for }),
      labels: rule.labels,
      // The number has another name there.
      annotations: JSON.parse(
        JSON.stringify(rule.annotations).replaceAll('$values.query.Value', '$value'),
      ),
    })),
    expected,
  );
});

test('all that the query of an alert returns is an alert, 0 too', () => {
  for (const { condition, data } of grafana.groups.flatMap(({ rules }) => rules)) {
    const [query, answered, fires] = data;
    assert.equal(query.model.instant, true);
    assert.match(answered.model.expression, /^is_number\(\$query\)/);
    assert.equal(fires.model.expression, answered.refId);
    assert.equal(condition, fires.refId);
  }
});

test('uids are short enough for Grafana, and unique', () => {
  const uids = grafana.groups.flatMap(({ rules }) => rules).map(({ uid }) => uid);
  assert.equal(new Set(uids).size, uids.length);
  for (const uid of uids) assert.ok(uid.length <= 40, uid);
});

test('Grafana puts the environment into labels ($NAME) and annotations (${NAME}): there is nothing of that form', () => {
  for (const { labels, annotations } of grafana.groups.flatMap(({ rules }) => rules)) {
    assert.doesNotMatch(JSON.stringify(labels), /\$/);
    assert.doesNotMatch(JSON.stringify(annotations), /\$\{/);
  }
});

test('every panel says how to read it', () => {
  assert.ok(shown.length > 10);
  for (const { title, description = '' } of shown) assert.ok(description.length > 60, title);
});

test('every number has a unit', () => {
  for (const { title, type, fieldConfig } of shown) {
    if (type === 'table' || type === 'heatmap') continue;
    assert.ok(fieldConfig.defaults.unit, title);
  }
});

test('panels do not overlap, and stay on the grid', () => {
  const taken = new Set();
  for (const { title, gridPos } of dashboard.panels) {
    const { x, y, w, h } = gridPos;
    assert.ok(x >= 0 && x + w <= 24, title);
    for (let column = x; column < x + w; column++) {
      for (let row = y; row < y + h; row++) {
        assert.ok(!taken.has(`${column},${row}`), `${title} lies on another panel`);
        taken.add(`${column},${row}`);
      }
    }
  }
});

test('ids and names are unique', () => {
  const ids = dashboard.panels.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
});

test('works with any data source: by provisioning and by import', () => {
  const named = [...JSON.stringify(dashboard).matchAll(/"uid":"([^"]+)"/g)].map(([, uid]) => uid);
  assert.deepEqual([...new Set(named)].sort(), ['${prometheus}', '${tempo}', 'event-loop']);
  const variables = dashboard.templating.list.map(({ name }) => name);
  for (const name of ['prometheus', 'tempo', 'service', 'instance'])
    assert.ok(variables.includes(name), name);
});

test('every query of a panel is limited to the chosen services and instances', () => {
  for (const { title, targets = [] } of shown) {
    for (const { expr, query } of targets) {
      const selectors = expr === undefined ? [query] : (expr.match(/\{[^}]*\}/g) ?? []);
      assert.ok(selectors.length > 0, title);
      for (const selector of selectors)
        assert.match(selector, /\$\{?service/, `${title}: ${selector}`);
      // The version before ran in other instances.
      const ofInstances =
        title === 'New since the last version' ? selectors.slice(0, 1) : selectors;
      for (const selector of ofInstances)
        assert.match(selector, /\$\{?instance/, `${title}: ${selector}`);
    }
  }
});

test('every variable in a query has a value when it is asked for real', () => {
  const all = expressions();
  const targets = shown.flatMap(({ targets = [] }) => targets).length;
  assert.ok(all.length > targets);
  for (const { query, from } of all) assert.doesNotMatch(query, /\$/, from);
});

test('links into Explore are searches that Tempo and Jaeger can read', () => {
  const links = shown
    .flatMap(({ fieldConfig }) => fieldConfig.overrides ?? [])
    .flatMap(({ properties }) => properties)
    .filter(({ id }) => id === 'links')
    .flatMap(({ value }) => value);
  const asked = [...new Set(links.map(({ url }) => url))].map((url) => {
    // As Grafana does it: variables first, then the address is read.
    const clicked = url
      .replace('${__value.raw:percentencode}', encodeURIComponent('Object.<anonymous>'))
      .replace('${__data.fields.job:percentencode}', 'shop')
      .replaceAll(/\$\{(\w+)\}/g, 'the-$1');
    const panes = JSON.parse(new URL(clicked, 'http://grafana').searchParams.get('panes') ?? '');
    return panes.blocks.queries[0];
  });
  assert.deepEqual(
    asked.map(({ datasource, query, service, operation, tags }) => ({
      datasource,
      query,
      service,
      operation,
      tags,
    })),
    [
      {
        datasource: { type: 'tempo', uid: 'the-tempo' },
        query: '{ name = "event-loop-blocked" && span.code.function.name = "Object.<anonymous>" }',
        service: undefined,
        operation: undefined,
        tags: undefined,
      },
      {
        datasource: { type: 'jaeger', uid: 'the-jaeger' },
        query: undefined,
        service: 'shop',
        operation: 'event-loop-blocked',
        tags: 'code.function.name="Object.<anonymous>"',
      },
    ],
  );
});
