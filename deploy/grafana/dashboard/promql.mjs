/**
 * The PromQL of the dashboard. It relies on no recording rule, so that the dashboard works wherever
 * the metrics are.
 *
 * The first block of a function is a new series, and `rate()` and `increase()` do not count a
 * series' first value. A function that blocks once a day would never show. So blocks are counted by
 * differences in which a series that was not there counts from zero. A series that was there within
 * the hour before has only been away, unless its process has started anew.
 */

/** The labels that the dashboard's variables choose by. */
const CHOSEN = 'job=~"$service",instance=~"$instance"';

/** Blocks of code that `expectBlock` runs are expected: nobody has to look at them. */
const UNEXPECTED = 'event_loop_block_expected=""';
const BLOCKS = /^event_loop_block_duration_/;

/**
 * @param {string} metric
 * @param {string} [matchers] further ones
 */
export const chosen = (metric, matchers) =>
  `${metric}{${[CHOSEN, BLOCKS.test(metric) && UNEXPECTED, matchers].filter(Boolean).join(',')}}`;

/**
 * `le` of a bucket, as OTLP and as scraping makes it.
 * @param {number} seconds whole
 */
export const le = (seconds) => `le=~"${seconds}|${seconds}[.]0"`;

/** Processes that have started anew within the hour, under the same service.instance.id. */
const ANEW = `resets(${chosen('event_loop_lag_seconds_count')}[1h]) > 0`;

/**
 * By how much a counter grew since the point before, for graphs: the points of a graph add up to
 * the whole. A process that ended between two points counts with the last that it has.
 * @param {string} series
 */
export function growthPerPoint(series) {
  const value = `(last_over_time(${series}[$__interval]) or ${series})`;
  const away = `last_over_time(${series}[1h] offset $__interval) unless on (job, instance) ${ANEW}`;
  const before = `(${series} offset $__interval or (${away}))`;
  return `((${value} - ${before}) >= 0 or ${value})`;
}

/**
 * By how much a counter grew in the dashboard's time range, for a single number. What is counted
 * anew, since a process was started again under the same service.instance.id, is added.
 * @param {string} series
 */
export const growthInRange = (series) =>
  `((last_over_time(${series}[$__range]) unless last_over_time(${series}[1h] offset $__range)) or increase(${series}[$__range]))`;

/**
 * The same in whole numbers, where `increase()` would estimate: what the largest of the buckets is
 * needs exactly that. After such a start anew only what came since counts.
 * @param {string} series
 */
export const exactGrowthInRange = (series) =>
  `((last_over_time(${series}[$__range]) - last_over_time(${series}[1h] offset $__range)) >= 0 or last_over_time(${series}[$__range]))`;

/** How far back versions, and the functions that blocked in them, are known. */
const KNOWN = '7d';

/**
 * Of each service the version that came last, where there was another one before.
 * @param {string} matchers of services
 */
function newestVersion(matchers) {
  const running = `event_loop_lag_seconds_count{${matchers}}`;
  // A version that came since the latest step of the subquery has no point in it.
  const since = `min by (job, service_version) (min_over_time(timestamp(${running})[${KNOWN}:5m]) or timestamp(${running}))`;
  const versions = `count by (job) (group by (job, service_version) (last_over_time(${running}[${KNOWN}])))`;
  return `((${since} == on (job) group_left () max by (job) (${since})) and on (job) ${versions} > 1)`;
}

/**
 * Of a vector by job, version and function what is of the newest version of its service, and of a
 * function that had not blocked in another version.
 * @param {string} vector
 */
export function newInVersion(vector) {
  const services = 'job=~"$service"';
  const newest = newestVersion(services);
  const known = `last_over_time(event_loop_block_duration_seconds_count{${services},${UNEXPECTED}}[${KNOWN}]) unless on (job, service_version) ${newest}`;
  return `${vector} and on (job, service_version) ${newest} unless on (job, code_function_name, code_file_path, code_line_number) (${known})`;
}

/**
 * @param {string} labels
 * @param {string} vector
 */
export const sumBy = (labels, vector) => `sum by (${labels}) (${vector})`;

/**
 * A percentile over all instances: their buckets are added up first.
 * @param {number} q
 * @param {string} buckets what `le` is a label of
 * @param {string} [labels] what to keep apart
 */
export const quantile = (q, buckets, labels) =>
  `histogram_quantile(${q}, ${sumBy(labels ? `${labels}, le` : 'le', buckets)})`;

/** @param {string} series */
export const rate = (series) => `rate(${series}[$__rate_interval])`;

/**
 * A label that is not there cannot be read in a table or a legend.
 * @param {string} vector
 * @param {string} label
 * @param {string} absent what to show instead
 */
export const named = (vector, label, absent) =>
  `label_replace(${vector}, "${label}", "${absent}", "${label}", "")`;
