/**
 * The dashboard "Event loop": the lag, what blocks the event loop, what is stalled by it, and in
 * which traces.
 */
import {
  DashboardCursorSync,
  defaultDashboard,
  VariableHide,
  VariableRefresh,
  VariableSort,
} from '@grafana/schema';
import {
  BLOCK_STEPS,
  graph,
  heatmap,
  KIND_COLORS,
  NONE_STEPS,
  PROMETHEUS,
  promTable,
  SHARE_STEPS,
  spanTable,
  stat,
  WAIT_STEPS,
} from './panels.mjs';
import {
  chosen,
  exactGrowthInRange,
  growthInRange,
  growthPerPoint,
  le,
  named,
  newInVersion,
  quantile,
  rate,
  sumBy,
} from './promql.mjs';

/**
 * @typedef {import('@grafana/schema').Dashboard} Dashboard
 * @typedef {import('@grafana/schema').Panel} Panel
 * @typedef {import('@grafana/schema').VariableModel} VariableModel
 */

const LAG = 'event_loop_lag_seconds';
const BLOCK = 'event_loop_block_duration_seconds';
const STALL = 'event_loop_stall_duration_seconds';
const CAUSED = 'event_loop_stall_caused_seconds_total';
const SUSPENSION = 'event_loop_suspension_duration_seconds';
const HTTP = 'http_server_request_duration_seconds';
const ONGOING = 'event_loop_block_unfinished_total';
const SUPPRESSED = 'event_loop_block_suppressed_total';

const KIND = 'event_loop_block_kind';
const REASON = 'event_loop_suspension_reason';
const FUNCTION = 'code_function_name';
const VERSION = 'service_version';
const ROUTE = 'http_route';
/** Only with a name that does not distinguish its function. */
const BEGIN = 'code_file_path, code_line_number';
/** What distinguishes a function of one release of a service. */
const BY_FUNCTION = `job, ${VERSION}, ${FUNCTION}, ${BEGIN}`;
const FILE_AND_LINE = [
  { name: 'code_file_path', title: 'File, if anonymous' },
  { name: 'code_line_number', title: 'Line', width: 60 },
];
/** The others may be any function. */
const IS_NAMED = `${FUNCTION}!="",${FUNCTION}!="_other"`;

/** Code without a stack sample has no name. */
const namedFunction = (/** @type {string} */ vector) =>
  named(named(vector, FUNCTION, '(not captured)'), VERSION, '(none)');

const SECONDS = { unit: 's', min: 0 };
const SHARE = { unit: 'percentunit', min: 0, max: 1 };
const COUNT = { unit: 'short', decimals: 0, min: 0 };
const NO_STALLS = 'needs EventLoopSpanProcessor';
const NO_SUSPENSIONS = 'None: the event loop was given a CPU whenever it had work to do';
const REASON_COLORS = { starved: 'orange', stopped: 'blue' };
/** Which function stalled which requests. */
const WHO_WHOM = `job, ${FUNCTION}, ${BEGIN}, ${ROUTE}`;
const stalledByFunction = (/** @type {string} */ vector) =>
  named(named(vector, FUNCTION, '(not captured)'), ROUTE, '(no route)');
const NO_BLOCKS = 'None: nothing blocked the event loop for as long as thresholdMillis';

/** Without a block it is 0 where there is a lag: an empty graph would mean that data is missing. */
const orZero = (/** @type {string} */ vector, /** @type {string} */ labels) =>
  `${vector} or ${sumBy(labels, chosen(`${LAG}_count`))} * 0`;

/** Service names without their namespace, as spans have them. */
const TRACED = [
  'resource.service.name =~ "${service_name:pipe}"',
  '(resource.service.instance.id =~ "${instance:pipe}" || resource.service.instance.id = nil)',
].join(' && ');

const CODE = 'span.code.function.name, span.code.file.path, span.code.line.number';

/**
 * A search in Explore that takes words from the row it was clicked in.
 * @param {'tempo' | 'jaeger'} type
 * @param {Record<string, unknown>} query
 */
function explore(type, query) {
  const uid = `\${${type}}`;
  const pane = {
    datasource: uid,
    queries: [{ refId: 'A', datasource: { type, uid }, limit: 50, ...query }],
    range: { from: '${__from}', to: '${__to}' },
  };
  // Grafana puts the variables in before it reads the address: they stay as they are, all else is
  // encoded.
  const encoded = JSON.stringify({ blocks: pane })
    .split(/(\$\{[^}]+\})/)
    .map((part, i) => (i % 2 === 1 ? part : encodeURIComponent(part)))
    .join('');
  return `/explore?schemaVersion=1&panes=${encoded}`;
}

/** On the name of a function. */
const ITS_BLOCKS = [
  {
    title: 'Its blocks in Tempo',
    url: explore('tempo', {
      queryType: 'traceql',
      tableType: 'spans',
      query:
        '{ name = "event-loop-blocked" && span.code.function.name = "${__value.raw:percentencode}" }',
    }),
  },
  {
    title: 'Its blocks in Jaeger',
    url: explore('jaeger', {
      queryType: 'search',
      service: '${__data.fields.job:percentencode}',
      operation: 'event-loop-blocked',
      tags: 'code.function.name="${__value.raw:percentencode}"',
    }),
  },
];

/** @type {{ height: number, panels: (Panel & { width: number })[], title?: string }[]} */
const ROWS = [
  {
    height: 4,
    panels: [
      {
        width: 4,
        ...stat({
          title: 'Lag, p99',
          description:
            'How long an event that arrives at a random moment waits for the event loop: 99 of 100 wait less. Below 100 ms is not noticeable. Over 200 ms for 5 minutes pages. If it is high, see the functions below.',
          scale: { ...SECONDS, steps: WAIT_STEPS, noValue: 'no data' },
          query: { expr: quantile(0.99, rate(chosen(`${LAG}_bucket`))) },
        }),
      },
      {
        width: 4,
        ...stat({
          title: 'Time blocked, worst instance',
          description:
            'Share of the time in which the event loop was blocked, of the instance that has most. From half on it cannot take more load. See which one it is in "Instances".',
          scale: { ...SHARE, decimals: 1, steps: SHARE_STEPS, noValue: 'no data' },
          query: {
            expr: `clamp_max(max(${orZero(sumBy('job, instance', growthPerPoint(chosen(`${BLOCK}_sum`))), 'job, instance')}) / ($__interval_ms / 1000), 1)`,
          },
        }),
      },
      {
        width: 4,
        ...stat({
          title: 'Blocks',
          description:
            'How many times in this time range something blocked an event loop for thresholdMillis or longer. Each has a span in the table of blocks below, unless its trace was not sampled: then it is a log event.',
          scale: {
            ...COUNT,
            steps: [
              { color: 'green', value: null },
              { color: 'yellow', value: 1 },
            ],
            noValue: 'none',
          },
          query: {
            expr: `round(sum(${growthInRange(chosen(`${BLOCK}_count`))})) or vector(0)`,
            instant: true,
          },
        }),
      },
      {
        width: 4,
        ...stat({
          title: 'Longest block',
          description:
            'Upper end of the bucket that the longest block of this time range fell into. From 1 s on health checks fail and clients give up. The exact length is on its span.',
          scale: { ...SECONDS, steps: BLOCK_STEPS, noValue: 'none' },
          query: {
            expr: quantile(1, exactGrowthInRange(chosen(`${BLOCK}_bucket`))),
            instant: true,
          },
        }),
      },
      {
        width: 4,
        ...stat({
          title: 'Requests stalled for over 100 ms',
          description:
            'Share of the requests (SERVER and CONSUMER spans) in this time range that waited more than 100 ms for another request’s blocks. Counts recorded spans only, and needs EventLoopSpanProcessor.',
          scale: { ...SHARE, decimals: 2, steps: SHARE_STEPS, noValue: NO_STALLS },
          query: {
            expr: `1 - sum(increase(${chosen(`${STALL}_bucket`, 'le="0.1"')}[$__range])) / sum(increase(${chosen(`${STALL}_count`)}[$__range]))`,
            instant: true,
          },
        }),
      },
      {
        width: 4,
        ...stat({
          title: 'Ongoing blocks',
          description:
            'Reports of blocks that had not ended after unfinishedAfterMillis (5 s). Whether the process came back: see "Last heard of" in "Instances", and the table of ongoing blocks. Counted by the Collector.',
          scale: { ...COUNT, steps: NONE_STEPS, noValue: 'none' },
          query: {
            expr: `round(sum(${growthInRange(chosen(ONGOING))})) or vector(0)`,
            instant: true,
          },
        }),
      },
    ],
  },
  {
    height: 8,
    panels: [
      {
        width: 12,
        ...graph({
          title: 'Lag',
          description:
            'What an event waits for the event loop, over all chosen instances: their histograms are added up, not their percentiles averaged. A p99 far above p50: single blocks. All of them high: the loop is overloaded, with or without blocks.',
          scale: { ...SECONDS, steps: WAIT_STEPS },
          queries: [0.5, 0.9, 0.99, 0.999].map((q) => ({
            expr: quantile(q, rate(chosen(`${LAG}_bucket`))),
            legendFormat: `p${q * 100}`,
          })),
          colors: { p50: 'green', p90: 'yellow', p99: 'orange', 'p99.9': 'red' },
        }),
      },
      {
        width: 12,
        ...heatmap({
          title: 'Lag, all events',
          description:
            'How many events waited how long. A healthy service is a dark band at the bottom. A cloud above it is load; single columns that reach up are blocks: one that lasted 1 s makes events wait for anything up to 1 s.',
          unit: 's',
          expr: sumBy('le', `increase(${chosen(`${LAG}_bucket`)}[$__rate_interval])`),
        }),
      },
    ],
  },
  {
    title: 'What blocks the event loop',
    height: 10,
    panels: [
      {
        width: 12,
        ...promTable({
          title: 'Top blocking functions',
          description:
            'Which functions blocked the event loop in this time range, by service.version, the one that made other requests wait longest first: begin there. "Made others wait" adds up the time for which SERVER and CONSUMER spans were stalled by its blocks; it needs EventLoopSpanProcessor. "p99" is computed from buckets. Click a function to see its blocks as traces, with file, line and stack (Jaeger knows services without a namespace). "_other": past 100 functions in a process. "(not captured)": see docs/troubleshooting.md.',
          noValue: NO_BLOCKS,
          sortBy: 'Made others wait',
          thenBy: 'Time in blocks',
          limit: 20,
          queries: [
            namedFunction(sumBy(BY_FUNCTION, growthInRange(chosen(`${BLOCK}_sum`)))),
            `round(${namedFunction(sumBy(BY_FUNCTION, growthInRange(chosen(`${BLOCK}_count`))))})`,
            namedFunction(quantile(0.99, growthInRange(chosen(`${BLOCK}_bucket`)), BY_FUNCTION)),
            namedFunction(
              `(${sumBy(BY_FUNCTION, growthInRange(chosen(CAUSED)))} or ${sumBy(BY_FUNCTION, growthInRange(chosen(`${BLOCK}_sum`)))} * 0)`,
            ),
          ],
          columns: [
            {
              name: FUNCTION,
              title: 'Function',
              links: ITS_BLOCKS,
            },
            ...FILE_AND_LINE,
            { name: 'job', title: 'Service' },
            { name: VERSION, title: 'Version', width: 90 },
            {
              name: 'Value #D',
              title: 'Made others wait',
              scale: { ...SECONDS, decimals: 1 },
              width: 140,
            },
            {
              name: 'Value #A',
              title: 'Time in blocks',
              scale: { ...SECONDS, decimals: 1 },
              bar: true,
            },
            { name: 'Value #B', title: 'Blocks', scale: COUNT, width: 90 },
            {
              name: 'Value #C',
              title: 'p99',
              scale: { ...SECONDS, steps: BLOCK_STEPS },
              colored: true,
              width: 90,
            },
          ],
        }),
      },
      {
        width: 12,
        ...graph({
          title: 'Blocks, by kind',
          description:
            'How many blocks ended in each bar. "callback": one synchronous run; make it shorter, or move it to a worker thread. "microtasks": promises that never go back to the loop; let them yield with setImmediate. "pile-up": many callbacks at once, none of them long; spread them out, or add instances. "(unknown)": with asyncHooks off.',
          scale: { ...COUNT, noValue: NO_BLOCKS },
          bars: true,
          queries: [
            {
              expr: named(sumBy(KIND, growthPerPoint(chosen(`${BLOCK}_count`))), KIND, '(unknown)'),
              legendFormat: `{{${KIND}}}`,
            },
          ],
          colors: KIND_COLORS,
        }),
      },
    ],
  },
  {
    height: 6,
    panels: [
      {
        width: 24,
        ...promTable({
          title: 'New since the last version',
          description:
            'Functions that blocked in this time range in the newest service.version of a service, and in no other version of the last 7 days. Anonymous functions are new where their line is. A version before the newest one must have run within the 7 days.',
          noValue:
            'None: no function blocks that did not before, or there is one version only, or service.version is not set',
          sortBy: 'Time in blocks',
          limit: 20,
          queries: [
            newInVersion(sumBy(BY_FUNCTION, growthInRange(chosen(`${BLOCK}_sum`, IS_NAMED)))),
            `round(${newInVersion(sumBy(BY_FUNCTION, growthInRange(chosen(`${BLOCK}_count`, IS_NAMED))))})`,
          ],
          columns: [
            { name: FUNCTION, title: 'Function', links: ITS_BLOCKS },
            ...FILE_AND_LINE,
            { name: 'job', title: 'Service' },
            { name: VERSION, title: 'Version' },
            {
              name: 'Value #A',
              title: 'Time in blocks',
              scale: { ...SECONDS, decimals: 1 },
              bar: true,
            },
            { name: 'Value #B', title: 'Blocks', scale: COUNT, width: 90 },
          ],
        }),
      },
    ],
  },
  {
    height: 8,
    panels: [
      {
        width: 8,
        ...graph({
          title: 'Blocks, by service and instance',
          description:
            'How many blocks ended in each bar. One instance only: see what it was asked, or its node. All at once: see the release, or a timer that they have in common.',
          scale: COUNT,
          bars: true,
          queries: [
            {
              expr: orZero(
                sumBy('job, instance', growthPerPoint(chosen(`${BLOCK}_count`))),
                'job, instance',
              ),
              legendFormat: '{{job}} {{instance}}',
            },
          ],
        }),
      },
      {
        width: 8,
        ...graph({
          title: 'Block length',
          description:
            'How long blocks were. Where there were none there is no point. A health check that gives up after 1 s fails when the line is above 1 s.',
          scale: { ...SECONDS, steps: BLOCK_STEPS },
          queries: [0.5, 0.99].map((q) => ({
            expr: quantile(q, growthPerPoint(chosen(`${BLOCK}_bucket`))),
            legendFormat: `p${q * 100}`,
          })),
          colors: { p50: 'green', p99: 'orange' },
        }),
      },
      {
        width: 8,
        ...graph({
          title: 'Time blocked, by service and instance',
          description:
            'Share of the time in which the event loop was blocked. A block counts at its end, with all its length, at most as all of the time. Over 50 % for 5 minutes is an alert.',
          scale: { ...SHARE, steps: SHARE_STEPS },
          queries: [
            {
              expr: `clamp_max((${orZero(sumBy('job, instance', growthPerPoint(chosen(`${BLOCK}_sum`))), 'job, instance')}) / ($__interval_ms / 1000), 1)`,
              legendFormat: '{{job}} {{instance}}',
            },
          ],
        }),
      },
    ],
  },
  {
    title: 'Stalled requests',
    height: 8,
    panels: [
      {
        width: 8,
        ...graph({
          title: 'Share of latency that was stall',
          description:
            'What part of the time that users waited was spent waiting for another request’s block: mean stall of a request, divided by its mean duration (http.server.request.duration). The rest is not the event loop’s fault. Needs EventLoopSpanProcessor and HTTP metrics.',
          scale: {
            ...SHARE,
            steps: SHARE_STEPS,
            noValue: `${NO_STALLS} and http.server.request.duration`,
          },
          queries: [
            {
              expr: `clamp_max((${sumBy('job', rate(chosen(`${STALL}_sum`)))} / ${sumBy('job', rate(chosen(`${STALL}_count`)))}) / (${sumBy('job', rate(chosen(`${HTTP}_sum`)))} / ${sumBy('job', rate(chosen(`${HTTP}_count`)))}), 1)`,
              legendFormat: '{{job}}',
            },
          ],
        }),
      },
      {
        width: 8,
        ...graph({
          title: 'Requests that were stalled',
          description:
            'Share of requests that waited for another request’s block: at all, for more than 100 ms, for more than 1 s. Counts recorded spans only.',
          scale: { ...SHARE, noValue: NO_STALLS },
          queries: [
            { matcher: le(0), legendFormat: 'at all' },
            { matcher: 'le="0.1"', legendFormat: 'over 100 ms' },
            { matcher: le(1), legendFormat: 'over 1 s' },
          ].map(({ matcher, legendFormat }) => ({
            expr: `1 - sum(${rate(chosen(`${STALL}_bucket`, matcher))}) / sum(${rate(chosen(`${STALL}_count`))})`,
            legendFormat,
          })),
          colors: { 'at all': 'green', 'over 100 ms': 'yellow', 'over 1 s': 'red' },
        }),
      },
      {
        width: 8,
        ...graph({
          title: 'Stall and latency, p99',
          description:
            'The slowest requests, and what they waited for blocks. Where the two lines come close, blocks make the tail.',
          scale: { ...SECONDS, noValue: `${NO_STALLS} and http.server.request.duration` },
          queries: [
            { expr: quantile(0.99, rate(chosen(`${STALL}_bucket`))), legendFormat: 'stall' },
            { expr: quantile(0.99, rate(chosen(`${HTTP}_bucket`))), legendFormat: 'request' },
          ],
          colors: { stall: 'orange', request: 'blue' },
        }),
      },
    ],
  },
  {
    height: 8,
    panels: [
      {
        width: 24,
        ...promTable({
          title: 'Who makes whom wait',
          description:
            'For how long the blocks of a function stalled the requests of a route in this time range, the longest first. The sum of a function is "Made others wait" above. "(no route)": jobs and messages; event_loop_stall_operation has their names. "_other": past 1000 pairs, or 100 functions or routes, in a process. Counts recorded spans only.',
          noValue: `None: no request was stalled, or it ${NO_STALLS}`,
          sortBy: 'Waited',
          limit: 20,
          queries: [
            stalledByFunction(`(${sumBy(WHO_WHOM, growthInRange(chosen(CAUSED)))} > 0)`),
            stalledByFunction(
              `(${sumBy(WHO_WHOM, growthInRange(chosen(CAUSED)))} / ignoring (${WHO_WHOM}) group_left () sum(${growthInRange(chosen(CAUSED))}) > 0)`,
            ),
          ],
          columns: [
            { name: FUNCTION, title: 'Function', links: ITS_BLOCKS },
            ...FILE_AND_LINE,
            { name: ROUTE, title: 'Route that waited' },
            { name: 'job', title: 'Service' },
            { name: 'Value #A', title: 'Waited', scale: { ...SECONDS, decimals: 1 }, bar: true },
            {
              name: 'Value #B',
              title: 'Of all waits',
              scale: { ...SHARE, decimals: 1 },
              width: 100,
            },
          ],
        }),
      },
    ],
  },
  {
    title: 'Without a CPU',
    height: 8,
    panels: [
      {
        width: 12,
        ...graph({
          title: 'Time without a CPU, worst instance',
          description:
            'Share of the time in which the event loop had work to do and no CPU, of the instance that has most. "starved": other processes on the node have the CPU, or its container is out of CPU quota. "stopped": the process or machine was stopped. No code is at fault: it is in no block, and in the lag, but for "stopped".',
          scale: { ...SHARE, steps: SHARE_STEPS, noValue: NO_SUSPENSIONS },
          queries: [
            {
              expr: `clamp_max(max by (${REASON}) (${sumBy(`job, instance, ${REASON}`, growthPerPoint(chosen(`${SUSPENSION}_sum`)))}) / ($__interval_ms / 1000), 1)`,
              legendFormat: `{{${REASON}}}`,
            },
          ],
          colors: REASON_COLORS,
        }),
      },
      {
        width: 12,
        ...graph({
          title: 'Suspension length, p99',
          description:
            'How long the event loop was without a CPU at a time, from 20 ms on. Under a quota: what is left of a period (100 ms) when the quota is used up. Shorter waits that follow each other count as some of 20 ms.',
          scale: { ...SECONDS, steps: BLOCK_STEPS, noValue: NO_SUSPENSIONS },
          queries: [
            {
              expr: quantile(0.99, growthPerPoint(chosen(`${SUSPENSION}_bucket`)), REASON),
              legendFormat: `{{${REASON}}}`,
            },
          ],
          colors: REASON_COLORS,
        }),
      },
    ],
  },
  {
    title: 'Traces and instances',
    height: 10,
    panels: [
      {
        width: 24,
        ...spanTable({
          title: 'Latest blocks',
          description:
            'Spans event-loop-blocked, the newest first. The span id opens the trace: the span above it is the request that blocked the event loop. CPU time far below the length: it waited in a synchronous call, or for a CPU. GC time near the length: garbage collection.',
          noValue: 'No blocks in this time, or none whose trace was sampled',
          limit: 50,
          query: `{ ${TRACED} && name = "event-loop-blocked" } | select(${CODE}, span.event_loop.block.kind, span.event_loop.block.cpu_time, span.event_loop.block.gc_time, span.event_loop.block.stalled_spans, span.event_loop.block.unfinished, resource.service.instance.id) with (most_recent=true)`,
          columns: [
            { name: 'time', title: 'Start', width: 180 },
            { name: 'spanID', title: 'Span', width: 150 },
            {
              name: 'duration',
              title: 'Length',
              scale: {
                unit: 'ns',
                steps: BLOCK_STEPS.map(({ color, value }) => ({
                  color,
                  value: value === null ? null : value * 1e9,
                })),
              },
              colored: true,
              width: 90,
            },
            { name: 'code.function.name', title: 'Function' },
            { name: 'code.file.path', title: 'File' },
            { name: 'code.line.number', title: 'Line', width: 70 },
            { name: 'event_loop.block.kind', title: 'Kind', width: 100 },
            { name: 'event_loop.block.cpu_time', title: 'CPU', scale: SECONDS, width: 80 },
            { name: 'event_loop.block.gc_time', title: 'GC', scale: SECONDS, width: 80 },
            { name: 'event_loop.block.stalled_spans', title: 'Stalled spans', width: 110 },
            { name: 'event_loop.block.unfinished', title: 'Unfinished', width: 100 },
            { name: 'traceService', title: 'Root service' },
            { name: 'traceName', title: 'Root span' },
            { name: 'service.instance.id', title: 'Instance' },
          ],
        }),
      },
    ],
  },
  {
    height: 9,
    panels: [
      {
        width: 12,
        ...spanTable({
          title: 'Ongoing blocks',
          description:
            'Reports of blocks that had not ended after unfinishedAfterMillis (5 s), sent by another thread while the loop was blocked. "Lasted" is until the report. A block that did end has a second span, its ordinary one.',
          noValue:
            'None: no block outlasted unfinishedAfterMillis, or the process exports no spans by OTLP',
          limit: 20,
          query: `{ ${TRACED} && span.event_loop.block.unfinished = true } | select(${CODE}, resource.service.name, resource.service.instance.id) with (most_recent=true)`,
          columns: [
            { name: 'time', title: 'Start', width: 180 },
            { name: 'spanID', title: 'Span', width: 150 },
            { name: 'duration', title: 'Lasted', scale: { unit: 'ns' }, width: 90 },
            { name: 'code.function.name', title: 'Function' },
            { name: 'code.file.path', title: 'File' },
            { name: 'code.line.number', title: 'Line', width: 70 },
            { name: 'service.name', title: 'Service' },
            { name: 'service.instance.id', title: 'Instance' },
            { name: 'traceService', title: 'Root service' },
            { name: 'traceName', title: 'Root span' },
          ],
        }),
      },
      {
        width: 12,
        ...spanTable({
          title: 'Requests that waited for blocks',
          description:
            'SERVER and CONSUMER spans that were stalled for more than 100 ms. The span id opens the trace; a link on the span leads to the block it waited longest for, in the trace of that block.',
          noValue: 'No request waited for more than 100 ms, or there is no EventLoopSpanProcessor',
          limit: 20,
          query: `{ ${TRACED} && (kind = server || kind = consumer) && span.event_loop.stall.duration > 0.1 } | select(span.event_loop.stall.duration, resource.service.name) with (most_recent=true)`,
          columns: [
            { name: 'time', title: 'Start', width: 180 },
            { name: 'spanID', title: 'Span', width: 150 },
            { name: 'duration', title: 'Duration', scale: { unit: 'ns' }, width: 100 },
            {
              name: 'event_loop.stall.duration',
              title: 'Of it stalled',
              scale: { ...SECONDS, steps: WAIT_STEPS },
              colored: true,
              width: 120,
            },
            { name: 'service.name', title: 'Service' },
            { name: 'traceService', title: 'Root service' },
            { name: 'traceName', title: 'Root span' },
          ],
        }),
      },
    ],
  },
  {
    height: 9,
    panels: [
      {
        width: 24,
        ...promTable({
          title: 'Instances',
          description:
            'The chosen instances in this time range, the one with the highest lag first. "Last heard of": how long ago it exported metrics; over 3 minutes it was ended, or it hangs. "Spans left out": blocks without a span, because of maxSpansPerMinute.',
          noValue: 'No instance exports event_loop.lag',
          sortBy: 'Lag, p99',
          limit: 50,
          queries: [
            quantile(0.99, `increase(${chosen(`${LAG}_bucket`)}[$__range])`, 'job, instance'),
            `clamp_max((${orZero(sumBy('job, instance', growthInRange(chosen(`${BLOCK}_sum`))), 'job, instance')}) / $__range_s, 1)`,
            `round(${orZero(sumBy('job, instance', growthInRange(chosen(`${BLOCK}_count`))), 'job, instance')})`,
            `round(${orZero(sumBy('job, instance', growthInRange(chosen(SUPPRESSED))), 'job, instance')})`,
            `time() - max by (job, instance) (max_over_time(timestamp(${chosen(`${LAG}_count`)})[1h:1m]))`,
          ],
          columns: [
            { name: 'job', title: 'Service' },
            { name: 'instance', title: 'Instance' },
            {
              name: 'Value #A',
              title: 'Lag, p99',
              scale: { ...SECONDS, steps: WAIT_STEPS },
              colored: true,
            },
            {
              name: 'Value #B',
              title: 'Time blocked',
              scale: { ...SHARE, decimals: 1, steps: SHARE_STEPS },
              colored: true,
            },
            { name: 'Value #C', title: 'Blocks', scale: COUNT },
            { name: 'Value #D', title: 'Spans left out', scale: COUNT },
            {
              name: 'Value #E',
              title: 'Last heard of',
              scale: {
                unit: 's',
                decimals: 0,
                steps: [
                  { color: 'green', value: null },
                  { color: 'red', value: 180 },
                ],
              },
              colored: true,
            },
          ],
        }),
      },
    ],
  },
];

const GRID_WIDTH = 24;

/** Rows of panels from top to bottom, panels from left to right. */
function laidOut() {
  /** @type {Dashboard['panels']} */
  const panels = [];
  let y = 0;
  let id = 1;
  for (const { title, height, panels: inRow } of ROWS) {
    if (title !== undefined) {
      panels.push({
        type: 'row',
        id: id++,
        title,
        collapsed: false,
        gridPos: { h: 1, w: GRID_WIDTH, x: 0, y },
        panels: [],
      });
      y += 1;
    }
    let x = 0;
    for (const { width, ...panel } of inRow) {
      panels.push({ ...panel, id: id++, gridPos: { h: height, w: width, x, y } });
      x += width;
    }
    if (x !== GRID_WIDTH) throw new Error(`a row is ${x} wide: ${inRow[0]?.title}`);
    y += height;
  }
  return panels;
}

/**
 * @param {string} name
 * @param {string} label
 * @returns {VariableModel}
 */
const datasource = (name, label) => ({
  type: 'datasource',
  name,
  label,
  query: name,
  refresh: VariableRefresh.onDashboardLoad,
  includeAll: false,
  multi: false,
  hide: VariableHide.dontHide,
});

const ALL = { text: ['All'], value: ['$__all'] };

/**
 * @param {{ name: string, label: string, metric: string, of: string, regex?: string,
 *   allValue?: string, hidden?: boolean }} variable
 * @returns {VariableModel}
 */
const labelValues = ({ name, label, metric, of, regex = '', allValue, hidden = false }) => ({
  type: 'query',
  name,
  label,
  datasource: PROMETHEUS,
  query: { refId: `variable-${name}`, query: `label_values(${metric}, ${of})`, qryType: 1 },
  regex,
  refresh: VariableRefresh.onTimeRangeChanged,
  sort: VariableSort.alphabeticalAsc,
  includeAll: true,
  multi: true,
  ...(allValue !== undefined && { allValue }),
  current: ALL,
  hide: hidden ? VariableHide.hideVariable : VariableHide.dontHide,
});

/**
 * A line through all graphs where a report of an ongoing block came. The counter is written when
 * there is a report, and only then.
 * @returns {import('@grafana/schema').AnnotationQuery}
 */
function unfinishedBlocks() {
  const expr = `max by (job, instance, ${FUNCTION}) (max_over_time(${chosen(ONGOING)}[1m]))`;
  // What Grafana's Prometheus data source reads of an annotation beside what all annotations have.
  const asked = {
    expr,
    step: '1m',
    titleFormat: 'A block has not ended',
    textFormat: `{{${FUNCTION}}} in {{job}} {{instance}}`,
    tagKeys: '',
    useValueForTime: false,
  };
  return {
    name: 'Ongoing blocks',
    datasource: PROMETHEUS,
    enable: true,
    iconColor: 'red',
    target: { refId: 'ongoing', ...{ expr, range: true, interval: '1m' } },
    ...asked,
  };
}

/** @type {Dashboard} */
export const dashboard = {
  uid: 'event-loop',
  title: 'Event loop',
  description:
    'What blocks the Node.js event loop, and what is stalled by it: metrics and spans of opentelemetry-instrumentation-event-loop.',
  tags: ['nodejs', 'opentelemetry', 'event-loop'],
  schemaVersion: defaultDashboard.schemaVersion,
  version: 1,
  editable: true,
  timezone: 'browser',
  time: { from: 'now-1h', to: 'now' },
  refresh: '30s',
  graphTooltip: DashboardCursorSync.Crosshair,
  links: [],
  templating: {
    list: [
      datasource('prometheus', 'Prometheus'),
      datasource('tempo', 'Tempo'),
      datasource('jaeger', 'Jaeger'),
      labelValues({
        name: 'service',
        label: 'Service',
        metric: `${LAG}_count`,
        of: 'job',
        allValue: '.*',
      }),
      labelValues({
        name: 'instance',
        label: 'Instance',
        metric: `${LAG}_count{job=~"$service"}`,
        of: 'instance',
        allValue: '.*',
      }),
      // `job` is namespace/name where there is a namespace. Spans have the name alone. Without a
      // value of its own, "All" is all of them.
      labelValues({
        name: 'service_name',
        label: 'Service in traces',
        metric: `${LAG}_count{job=~"$service"}`,
        of: 'job',
        regex: '/([^/]+)$/',
        hidden: true,
      }),
    ],
  },
  annotations: { list: [unfinishedBlocks()] },
  panels: laidOut(),
};
