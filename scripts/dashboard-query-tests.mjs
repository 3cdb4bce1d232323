// Unit tests of the dashboard's queries on blocks, for promtool, made from the dashboard as it is.
// They assert: the first block of a function, which `rate()` and `increase()` do not count, is
// shown in full, once, and where it belongs; and so is what goes on as before.
import { expressions } from '../tools/dashboard-queries.cjs';

const BLOCK = 'event_loop_block_duration_seconds';
const CAUSED = 'event_loop_stall_caused_seconds_total';

/**
 * @param {string} metric
 * @param {string} labels
 * @param {string} values in promtool's notation, a minute apart
 */
const series = (metric, labels, values) => ({
  series: `${metric}{job="shop",instance="a"${labels}}`,
  values,
});

/**
 * A histogram of blocks.
 * @param {string} name @param {string} kind
 * @param {{ count: string, sum: string, buckets: Record<string, string> }} values
 */
function blocks(name, kind, { count, sum, buckets }) {
  const labels = `,code_function_name="${name}",event_loop_block_kind="${kind}"`;
  return [
    series(`${BLOCK}_count`, labels, count),
    series(`${BLOCK}_sum`, labels, sum),
    ...Object.entries(buckets).map(([le, values]) =>
      series(`${BLOCK}_bucket`, `${labels},le="${le}"`, values),
    ),
  ];
}

const INPUT = [
  series('event_loop_lag_seconds_count', '', '0+3000x120'),
  // A block of 8 s in the 70th minute, and no other.
  ...blocks('rare', 'callback', {
    count: '_x70 1x50',
    sum: '_x70 8x50',
    buckets: {
      0.25: '_x70 0x50',
      1: '_x70 0x50',
      5: '_x70 0x50',
      10: '_x70 1x50',
      '+Inf': '_x70 1x50',
    },
  }),
  // It made requests of two routes wait, in the 70th minute.
  series(CAUSED, ',code_function_name="rare",http_route="/list"', '_x70 20x50'),
  series(CAUSED, ',code_function_name="rare"', '_x70 5x50'),
  // A block of 0.2 s each minute.
  ...blocks('known', 'microtasks', {
    count: '1+1x119',
    sum: '0.2+0.2x119',
    buckets: { 0.25: '1+1x119', 1: '1+1x119', 5: '1+1x119', 10: '1+1x119', '+Inf': '1+1x119' },
  }),
];

const PER_FUNCTION = (/** @type {Record<string, number>} */ values) =>
  Object.entries(values).map(([name, value]) => [
    `{job="shop",service_version="(none)",code_function_name="${name}"}`,
    value,
  ]);
const PER_ROUTE = (/** @type {Record<string, number>} */ values) =>
  Object.entries(values).map(([route, value]) => [
    `{job="shop",code_function_name="rare",http_route="${route}"}`,
    value,
  ]);
const PER_KIND = (/** @type {Record<string, number>} */ values) =>
  Object.entries(values).map(([kind, value]) => [`{event_loop_block_kind="${kind}"}`, value]);
const PER_INSTANCE = (/** @type {number} */ value) => [['{job="shop",instance="a"}', value]];
const TOTAL = (/** @type {number} */ value) => [['{}', value]];

/** Query, minute, and what it has to say; rounded to thousandths. */
const EXPECTED = [
  ['panel "Top blocking functions" A', 69, PER_FUNCTION({ known: 12 })],
  ['panel "Top blocking functions" A', 70, PER_FUNCTION({ known: 12, rare: 8 })],
  ['panel "Top blocking functions" A', 119, PER_FUNCTION({ known: 12, rare: 8 })],
  ['panel "Top blocking functions" B', 119, PER_FUNCTION({ known: 60, rare: 1 })],
  ['panel "Top blocking functions" D', 69, PER_FUNCTION({ known: 0 })],
  ['panel "Top blocking functions" D', 119, PER_FUNCTION({ known: 0, rare: 25 })],
  ['panel "Who makes whom wait" A', 69, []],
  ['panel "Who makes whom wait" A', 119, PER_ROUTE({ '/list': 20, '(no route)': 5 })],
  ['panel "Who makes whom wait" B', 119, PER_ROUTE({ '/list': 0.8, '(no route)': 0.2 })],
  ['panel "Blocks" A', 69, TOTAL(60)],
  ['panel "Blocks" A', 70, TOTAL(61)],
  ['panel "Longest block" A', 69, TOTAL(0.25)],
  ['panel "Longest block" A', 119, TOTAL(10)],
  ['panel "Blocks, by kind" A', 69, PER_KIND({ microtasks: 1 })],
  ['panel "Blocks, by kind" A', 70, PER_KIND({ microtasks: 1, callback: 1 })],
  ['panel "Blocks, by kind" A', 71, PER_KIND({ microtasks: 1, callback: 0 })],
  ['panel "Blocks, by service and instance" A', 70, PER_INSTANCE(2)],
  ['panel "Blocks, by service and instance" A', 71, PER_INSTANCE(1)],
  ['panel "Time blocked, worst instance" A', 70, TOTAL(0.137)],
  ['panel "Time blocked, by service and instance" A', 71, PER_INSTANCE(0.003)],
  ['panel "Block length" B', 71, TOTAL(0.248)],
  ['panel "Instances" B', 119, PER_INSTANCE(0.006)],
  ['panel "Instances" C', 119, PER_INSTANCE(61)],
  ['panel "Instances" D', 119, PER_INSTANCE(0)],
  ['panel "Ongoing blocks" A', 119, TOTAL(0)],
];

/**
 * A process that lives for three minutes, between two points of a graph over a week. Another starts
 * anew under the same name.
 */
const SHORT_LIVED = [
  series('event_loop_lag_seconds_count', '', '0+3000x120'),
  ...blocks('briefly', 'callback', {
    count: '_x31 1x2',
    sum: '_x31 6x2',
    buckets: { 0.25: '_x31 0x2', '+Inf': '_x31 1x2' },
  }),
  ...blocks('restarted', 'microtasks', {
    count: '5x59 1x60',
    sum: '5x59 1x60',
    buckets: { 0.25: '5x59 1x60', '+Inf': '5x59 1x60' },
  }),
];

const EXPECTED_OVER_A_WEEK = [
  ['panel "Blocks, by kind" A', 20, PER_KIND({ microtasks: 0 })],
  ['panel "Blocks, by kind" A', 40, PER_KIND({ callback: 1, microtasks: 0 })],
  ['panel "Blocks, by kind" A', 60, PER_KIND({ microtasks: 1 })],
  ['panel "Blocks, by kind" A', 80, PER_KIND({ microtasks: 0 })],
];

/** Version 1 for an hour, and version 2 from then on, with another instance. */
const RELEASES = [
  ...['1', '2'].flatMap((version) => {
    const released = (
      /** @type {string} */ metric,
      /** @type {string} */ labels,
      /** @type {string} */ values,
    ) => ({
      series: `${metric}{job="shop",instance="${version}",service_version="${version}"${labels}}`,
      values: version === '1' ? `${values}x60` : `_x61 ${values}x60`,
    });
    const blocking = (/** @type {string} */ name, /** @type {number} */ seconds) => [
      released(`${BLOCK}_count`, `,code_function_name="${name}"`, '1+1'),
      released(`${BLOCK}_sum`, `,code_function_name="${name}"`, `${seconds}+${seconds}`),
    ];
    return [
      released('event_loop_lag_seconds_count', '', '0+3000'),
      ...blocking('always', 0.5),
      ...(version === '1' ? blocking('before', 2) : blocking('since', 3)),
    ];
  }),
  // Another service, of one version only.
  {
    series: 'event_loop_lag_seconds_count{job="other",instance="a",service_version="9"}',
    values: '0+3000x120',
  },
  {
    series: `${BLOCK}_count{job="other",instance="a",service_version="9",code_function_name="only"}`,
    values: '_x100 1x20',
  },
];

const IN_VERSION_2 = (/** @type {number} */ value) => [
  ['{job="shop",service_version="2",code_function_name="since"}', value],
];

const EXPECTED_OF_RELEASES = [
  ['panel "New since the last version" A', 60, []],
  ['panel "New since the last version" A', 62, IN_VERSION_2(6)],
  ['panel "New since the last version" B', 62, IN_VERSION_2(2)],
  ['panel "New since the last version" B', 110, IN_VERSION_2(50)],
];

/**
 * A process that starts anew in the 30th minute under the same name, and blocks again in the 50th,
 * for the first time.
 */
const STARTED_ANEW = [
  series('event_loop_lag_seconds_count', '', '0+3000x29 0+3000x60'),
  ...blocks('again', 'callback', {
    count: '1x29 _x20 1x30',
    sum: '6x29 _x20 6x30',
    buckets: { 0.25: '0x29 _x20 0x30', '+Inf': '1x29 _x20 1x30' },
  }),
];

const EXPECTED_AFTER_A_START = [
  ['panel "Blocks, by kind" A', 29, PER_KIND({ callback: 0 })],
  ['panel "Blocks, by kind" A', 50, PER_KIND({ callback: 1 })],
  ['panel "Blocks, by kind" A', 51, PER_KIND({ callback: 0 })],
];

/** No metrics at all for a quarter of an hour. */
const AWAY = [
  series('event_loop_lag_seconds_count', '', '0+3000x29 _x15 135000+3000x30'),
  ...blocks('known', 'callback', {
    count: '3x29 _x15 4x30',
    sum: '3x29 _x15 4x30',
    buckets: { 0.25: '0x29 _x15 0x30', '+Inf': '3x29 _x15 4x30' },
  }),
];

const EXPECTED_WHEN_BACK = [
  ['panel "Blocks, by kind" A', 45, PER_KIND({ callback: 1 })],
  ['panel "Blocks, by kind" A', 46, PER_KIND({ callback: 0 })],
];

/**
 * @param {string} name
 * @param {ReturnType<typeof series>[]} input
 * @param {typeof EXPECTED} expected
 * @param {Record<string, string>} [variables] of Grafana
 */
function queryTests(name, input, expected, variables) {
  const all = expressions(variables);
  return {
    name,
    interval: '1m',
    input_series: input,
    promql_expr_test: expected.map(([from, minute, samples]) => {
      const found = all.find((expression) => expression.from === from);
      if (found === undefined) throw new Error(`the dashboard has no ${from}`);
      return {
        expr: `round(${found.query}, 0.001)`,
        eval_time: `${minute}m`,
        exp_samples: samples.map(([labels, value]) => ({ labels, value })),
      };
    }),
  };
}

/** What `promtool test rules` reads, as JSON, which is YAML too. */
export const dashboardQueryTests = () => ({
  tests: [
    queryTests('the first block of a function', INPUT, EXPECTED),
    queryTests('a process that starts anew', STARTED_ANEW, EXPECTED_AFTER_A_START),
    queryTests('metrics that were away', AWAY, EXPECTED_WHEN_BACK),
    queryTests('a function that blocks since a release', RELEASES, EXPECTED_OF_RELEASES),
    queryTests('points that are far apart', SHORT_LIVED, EXPECTED_OVER_A_WEEK, {
      __interval: '20m',
      __interval_ms: '1200000',
    }),
  ],
});
