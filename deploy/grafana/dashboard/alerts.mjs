/**
 * The Grafana-managed alert rules: those of Prometheus, with the same expression, wait, labels and
 * annotations. Grafana wants a condition beside the query; the threshold is in the query already,
 * so all that it returns is an alert.
 */

/**
 * @typedef {{ alert: string, expr: string, for?: string, labels: Record<string, string>,
 *   annotations: Record<string, string> }} PrometheusAlert
 * @typedef {{ groups: { name: string,
 *   rules: (PrometheusAlert | { record: string, expr: string })[] }[] }} PrometheusRules
 */

/** Of the data source that deploy/grafana/provisioning/datasources makes. */
const PROMETHEUS_UID = 'prometheus';
const PROMETHEUS = { type: 'prometheus', uid: PROMETHEUS_UID };
const EXPRESSIONS_UID = '__expr__';
const EXPRESSIONS = { type: '__expr__', uid: EXPRESSIONS_UID };
/** How finely a query may answer; an instant one answers once. */
const RESOLUTION = { intervalMs: 1000, maxDataPoints: 43_200 };
/** Range of the query in seconds; its expression has ranges of its own. */
const QUERY_RANGE = { from: 600, to: 0 };
const NO_RANGE = { from: 0, to: 0 };

/** Where Prometheus has the number, Grafana has an object of all queries' numbers. */
const grafanaTemplate = (/** @type {string} */ template) =>
  template.replaceAll('$value', '$values.query.Value');

/** @param {PrometheusAlert} rule */
function grafanaRule({ alert, expr, labels, annotations, for: wait = '0s' }) {
  return {
    // Grafana's limit is 40 characters.
    uid: alert.replaceAll(/[A-Z]/g, (letter, at) => `${at > 0 ? '-' : ''}${letter.toLowerCase()}`),
    title: alert,
    condition: 'fires',
    for: wait,
    noDataState: 'OK',
    execErrState: 'Error',
    // As in Prometheus: what is no longer reported is over.
    missing_series_evals_to_resolve: 1,
    labels,
    annotations: Object.fromEntries(
      Object.entries(annotations).map(([name, text]) => [name, grafanaTemplate(text)]),
    ),
    data: [
      {
        refId: 'query',
        relativeTimeRange: QUERY_RANGE,
        datasourceUid: PROMETHEUS_UID,
        model: {
          refId: 'query',
          datasource: PROMETHEUS,
          expr,
          instant: true,
          range: false,
          editorMode: 'code',
          ...RESOLUTION,
        },
      },
      {
        // Any number: `0 > 0` would not fire.
        refId: 'answered',
        relativeTimeRange: NO_RANGE,
        datasourceUid: EXPRESSIONS_UID,
        model: {
          refId: 'answered',
          datasource: EXPRESSIONS,
          type: 'math',
          expression: 'is_number($query) || is_nan($query) || is_inf($query)',
        },
      },
      {
        refId: 'fires',
        relativeTimeRange: NO_RANGE,
        datasourceUid: EXPRESSIONS_UID,
        model: {
          refId: 'fires',
          datasource: EXPRESSIONS,
          type: 'threshold',
          expression: 'answered',
          conditions: [{ evaluator: { type: 'gt', params: [0] } }],
        },
      },
    ],
  };
}

/** @param {PrometheusRules} rules */
export function grafanaAlerting({ groups }) {
  return {
    apiVersion: 1,
    groups: groups
      .map(({ name, rules }) => ({ name, alerts: rules.filter((rule) => 'alert' in rule) }))
      .filter(({ alerts }) => alerts.length > 0)
      .map(({ name, alerts }) => ({
        orgId: 1,
        name,
        folder: 'Event loop',
        interval: '1m',
        rules: alerts.map(grafanaRule),
      })),
  };
}
