// `npm run check -- pictures`: makes docs/pictures/ anew. With `demo`, `report`, `dashboard`,
// `jaeger` or `prometheus` it makes some of them: the report of the demo; the page of its run; the
// Grafana dashboard with data of a run; the web pages of Jaeger and Prometheus, of a chain that
// runs (deploy/README.md). Without names, servers that do not run are left out, and their pictures
// stay as they are.
import { pictureOfDashboard } from './pictures/dashboard.mjs';
import { pictureOfDemo } from './pictures/demo.mjs';
import { picturesOfReportPage } from './pictures/report-page.mjs';
import { pictureOfJaeger, pictureOfPrometheus } from './pictures/servers.mjs';

const MAKERS = {
  demo: pictureOfDemo,
  report: picturesOfReportPage,
  dashboard: pictureOfDashboard,
  jaeger: pictureOfJaeger,
  prometheus: pictureOfPrometheus,
};
/** Of a chain that may not run. */
const OF_SERVERS = ['jaeger', 'prometheus'];

const asked = process.argv.slice(2).filter((argument) => argument !== '--stdin');
try {
  for (const name of asked.length > 0 ? asked : Object.keys(MAKERS)) {
    if (!Object.hasOwn(MAKERS, name)) throw new Error(`${name}: one of ${Object.keys(MAKERS)}`);
    try {
      await MAKERS[name]();
    } catch (error) {
      if (asked.length > 0 || !OF_SERVERS.includes(name)) throw error;
      process.stderr.write(`${name}: left out, ${error.message}\n`);
    }
  }
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
