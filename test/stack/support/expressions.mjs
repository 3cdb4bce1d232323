// Every PromQL and TraceQL expression that is shipped: of the rules, of the dashboard with its variables and annotations, and of
// Grafana's alert rules.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '../../..');
const RULES = join(ROOT, 'prometheus/rules.yaml');
const DASHBOARDS = join(ROOT, 'grafana/dashboards');
const ALERTING = join(ROOT, 'grafana/provisioning/alerting');

/** Rules with `for` and group names, as in the file. */
export function readRules() {
  const { groups } = parse(readFileSync(RULES, 'utf8'));
  return groups.flatMap(({ rules }) => rules);
}

export const rulesText = () => readFileSync(RULES, 'utf8');

/** @returns {{ where: string, expression: string }[]} of the recording rules and alerts */
export function ruleExpressions() {
  return readRules().map(({ record, alert, expr }) => ({
    where: `rule ${record ?? alert}`,
    expression: expr,
  }));
}

/** @returns {{ file: string, dashboard: any }[]} */
function dashboards() {
  if (!existsSync(DASHBOARDS)) return [];
  return readdirSync(DASHBOARDS)
    .filter((file) => file.endsWith('.json'))
    .map((file) => ({ file, dashboard: JSON.parse(readFileSync(join(DASHBOARDS, file), 'utf8')) }));
}

/** Every object inside a value, and itself. */
function* objectsIn(value) {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value;
  for (const inner of Object.values(value)) yield* objectsIn(inner);
}

const isTempo = ({ datasource }) => datasource?.type === 'tempo';
const isPrometheus = ({ datasource }) => datasource?.type === 'prometheus';

/** What is asked for with `label_values(metric, label)` and the like has data when the metric has. */
function variableExpression(query) {
  return /^\s*(?:label_values|query_result)\(\s*(.+?)\s*(?:,\s*\w+\s*)?\)\s*$/s.exec(query)?.[1];
}

function* dashboardExpressions(file, dashboard, wanted) {
  for (const variable of dashboard.templating?.list ?? []) {
    if (variable.type !== 'query' || !wanted(variable)) continue;
    const query = typeof variable.query === 'string' ? variable.query : variable.query.query;
    const expression = variableExpression(query);
    if (expression) yield { where: `${file} variable ${variable.name}`, expression };
  }
  for (const annotation of dashboard.annotations?.list ?? []) {
    if (!wanted(annotation)) continue;
    const expression = annotation.expr ?? annotation.target?.expr ?? annotation.target?.query;
    if (expression) yield { where: `${file} annotation ${annotation.name}`, expression };
  }
  for (const panel of objectsIn(dashboard.panels)) {
    for (const target of panel.targets ?? []) {
      const expression = target.expr ?? target.query;
      if (!expression || !(wanted(target) || (!target.datasource && wanted(panel)))) continue;
      yield { where: `${file} panel ${panel.title}`, expression };
    }
  }
}

/** @returns {{ where: string, expression: string }[]} PromQL */
export function dashboardPromQl() {
  return dashboards().flatMap(({ file, dashboard }) => [
    ...dashboardExpressions(file, dashboard, isPrometheus),
  ]);
}

/** @returns {{ where: string, expression: string }[]} TraceQL */
export function dashboardTraceQl() {
  return dashboards().flatMap(({ file, dashboard }) => [...dashboardExpressions(file, dashboard, isTempo)]);
}

/** @returns {{ where: string, expression: string }[]} PromQL of Grafana's alert rules */
export function grafanaAlertPromQl() {
  if (!existsSync(ALERTING)) return [];
  return readdirSync(ALERTING)
    .filter((file) => /\.ya?ml$/.test(file))
    .flatMap((file) => parse(readFileSync(join(ALERTING, file), 'utf8')).groups ?? [])
    .flatMap(({ rules }) => rules)
    .flatMap(({ title, data }) =>
      data
        .filter(({ model }) => model.expr)
        .map(({ model }) => ({ where: `Grafana alert ${title}`, expression: model.expr })),
    );
}

/** Grafana's variables at what they are with "All" chosen, and windows that a test of a minute fills. */
export function withoutVariables(expression) {
  return expression
    .replaceAll(/\$__rate_interval|\$\{__rate_interval\}/g, '30s')
    .replaceAll(/\$__interval|\$\{__interval\}/g, '5s')
    .replaceAll(/\$__range|\$\{__range\}/g, '5m')
    .replaceAll(/\$\{\w+(?::\w+)?\}|\$\w+/g, '.*');
}

/** An alert's expression without its comparison has data even when nothing is wrong. */
export function withoutThreshold(expression) {
  return expression.replace(/\s*(?:[<>]=?|[!=]=)\s*(?:bool\s*)?-?[\d.]+\s*$/, '');
}
