/**
 * Every query of the dashboard, the data sources and the Grafana-managed alerts, with Grafana's
 * variables filled in: what a real Prometheus or Tempo can be asked. `node
 * tools/dashboard-queries.cjs` prints them as JSON. Needs nothing but the committed files.
 */
const { readFileSync } = require('node:fs');
const { join } = require('node:path');

/**
 * @typedef {{ from: string, kind: 'promql' | 'traceql' | 'label_values', range: boolean,
 *   query: string }} Expression
 */

const inGrafana = (/** @type {string} */ path) => join(__dirname, '../deploy/grafana', path);

/**
 * Grafana's variables, as for one hour of the whole.
 * @type {Record<string, string>}
 */
const EVERYTHING = {
  service: '.*',
  instance: '.*',
  service_name: '.*',
  __interval: '1m',
  __interval_ms: '60000',
  __rate_interval: '4m',
  __range: '1h',
  __range_s: '3600',
};

/**
 * @param {string} query
 * @param {Record<string, string>} variables
 */
function filledIn(query, variables) {
  return query.replaceAll(/\$\{(\w+)(?::\w+)?\}|\$(\w+)/g, (all, braced, bare) => {
    const value = variables[braced ?? bare];
    if (value === undefined) throw new Error(`no value for ${all} in ${query}`);
    return value;
  });
}

/**
 * @param {Record<string, string>} [variables] other values than those of everything
 * @returns {Expression[]}
 */
function expressions(variables = {}) {
  const values = { ...EVERYTHING, ...variables };
  const dashboard = JSON.parse(readFileSync(inGrafana('dashboards/event-loop.json'), 'utf8'));
  /** @type {Expression[]} */
  const found = [];
  for (const panel of dashboard.panels) {
    for (const target of panel.targets ?? []) {
      const isPromql = target.datasource.type === 'prometheus';
      found.push({
        from: `panel "${panel.title}" ${target.refId}`,
        kind: isPromql ? 'promql' : 'traceql',
        range: target.range === true,
        query: filledIn(isPromql ? target.expr : target.query, values),
      });
    }
  }
  for (const { name, expr } of dashboard.annotations.list) {
    found.push({
      from: `annotation "${name}"`,
      kind: 'promql',
      range: true,
      query: filledIn(expr, values),
    });
  }
  for (const { name, type, query } of dashboard.templating.list) {
    if (type !== 'query') continue;
    found.push({
      from: `variable ${name}`,
      kind: 'label_values',
      range: false,
      query: filledIn(query.query, values),
    });
  }
  const datasources = readFileSync(inGrafana('provisioning/datasources/datasources.yaml'), 'utf8');
  for (const [, query = ''] of datasources.matchAll(/^ +query: (.*)$/gm)) {
    const matchers = `job=~"${values['service']}",instance=~"${values['instance']}"`;
    found.push({
      from: 'trace to metrics',
      kind: 'promql',
      range: true,
      query: query.replaceAll('$$__tags', matchers),
    });
  }
  return found;
}

if (require.main === module) console.log(JSON.stringify(expressions(), null, 2));

module.exports = { expressions };
