// Every PromQL expression that is shipped: of the rules, of the dashboard and the data
// sources, and of Grafana's alert rules; as Grafana asks them with all services and instances
// chosen.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { expressions as grafanaExpressions } from '../../../tools/dashboard-queries.cjs';

const ROOT = join(import.meta.dirname, '../../..');
const ALERTING = join(ROOT, 'deploy/grafana/provisioning/alerting');

/** Windows that a test of a minute fills. */
const SHORT_WINDOWS = { __interval: '5s', __rate_interval: '30s', __range: '20s', __range_s: '20' };
const LABEL_VALUES = /^label_values\((.*), \w+\)$/;

/** 5 minutes ago there was no test yet: windows and offsets become a sixtieth. */
const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400 };
const WINDOW = /\[[^\]]*\]|\boffset\s+-?\d+\w+/g;
const withShortOffsets = (expression) =>
  /\boffset\b/.test(expression)
    ? expression.replaceAll(WINDOW, (window) =>
        window.replaceAll(
          /(\d+)([smhd])\b/g,
          (_, amount, unit) => `${Math.round((amount * SECONDS[unit] * 1000) / 60)}ms`,
        ),
      )
    : expression;

/** @typedef {{ where: string, expression: string }} Expression */

/** @returns {{ record?: string, alert?: string, expr: string }[]} */
export const readRules = () =>
  parse(readFileSync(join(ROOT, 'deploy/prometheus/rules.yaml'), 'utf8')).groups.flatMap(
    ({ rules }) => rules,
  );

const ofGrafana = () =>
  grafanaExpressions(SHORT_WINDOWS).map(({ from, kind, query }) => ({
    kind,
    where: from,
    expression: query,
  }));

/** @returns {Generator<Expression>} */
export function* grafanaAlerts() {
  for (const file of readdirSync(ALERTING)) {
    for (const { rules } of parse(readFileSync(join(ALERTING, file), 'utf8')).groups) {
      for (const { title, data } of rules) {
        for (const { model } of data) {
          if (model.expr) yield { where: title, expression: model.expr };
        }
      }
    }
  }
}

/** @returns {Expression[]} all but those of the alerts, which have data when they fire */
export function promQl() {
  return [
    ...readRules()
      .filter(({ record }) => record)
      .map(({ record, expr }) => ({ where: `rule ${record}`, expression: withShortOffsets(expr) })),
    ...ofGrafana().flatMap(({ kind, where, expression }) => {
      if (kind === 'promql') return [{ where, expression }];
      // The values of a label are there when the series are.
      if (kind === 'label_values')
        return [{ where, expression: expression.replace(LABEL_VALUES, '$1') }];
      return [];
    }),
  ];
}
