/**
 * Writes what Grafana reads: the dashboard, from dashboard/event-loop.mjs, and the Grafana-managed
 * alert rules, from prometheus/rules.yaml. `--check` writes nothing, and fails if what is there
 * is not what would be written.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { parse, stringify } from 'yaml';
import { grafanaAlerting } from './dashboard/alerts.mjs';
import { dashboard } from './dashboard/event-loop.mjs';

const here = (/** @type {string} */ path) => new URL(path, import.meta.url);
const rules = parse(await readFile(here('../prometheus/rules.yaml'), 'utf8'));

const HEADER =
  '# The alerts of deploy/prometheus/rules.yaml, evaluated by Grafana. Made by `npm run generate` in deploy/grafana/: do not edit.\n' +
  '# They need the recording rules of deploy/prometheus/rules.yaml. Leave this file out if Prometheus evaluates the alerts.\n';

/** @type {[path: string, content: string][]} */
const files = [
  ['dashboards/event-loop.json', `${JSON.stringify(dashboard, null, 2)}\n`],
  [
    'provisioning/alerting/event-loop.yaml',
    HEADER + stringify(grafanaAlerting(rules), { lineWidth: 0, aliasDuplicateObjects: false }),
  ],
];

const isCheck = process.argv.includes('--check');
for (const [path, content] of files) {
  if (!isCheck) await writeFile(here(path), content);
  else if ((await readFile(here(path), 'utf8')) !== content) {
    console.error(
      `deploy/grafana/${path} is not what \`npm run generate\` in deploy/grafana/ writes`,
    );
    process.exitCode = 1;
  }
}
