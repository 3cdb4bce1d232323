/**
 * This package and its peers, each set up as its own README says, with the same threshold. What a
 * tool has to say of a block goes to `report`; tools that make spans named `event-loop-blocked` are
 * heard through the SDK.
 */
const { createHook } = require('node:async_hooks');
const { createRequire } = require('node:module');
const path = require('node:path');
const { trace } = require('@opentelemetry/api');

const SPAN_NAME = 'event-loop-blocked';
const PACKAGE = path.join(__dirname, 'package');
const peer = createRequire(path.join(PACKAGE, 'package.json'));

/**
 * @typedef {{ lengthMillis?: number, functionName?: string, traceId?: string }} Report
 * @typedef {object} Environment
 * @property {number} thresholdMillis
 * @property {(report: Report) => void} report
 * @property {string} dsn where Sentry is to send to
 *
 * @typedef {object} Subject
 * @property {('block' | 'length' | 'trace' | 'function')[]} reports what it is made to report; the
 *   others get a dash
 * @property {number} [settleMillis] how long after a block it may need to report it
 * @property {boolean} [bringsSdk] it traces without the SDK of the service
 * @property {() => string | undefined} [traceId] of the request that runs, if the tool does not
 *   trace with OpenTelemetry
 * @property {boolean} [isProfile] what it says comes in profiles, over the agent's protocol of
 *   Datadog, to `DD_TRACE_AGENT_URL`
 * @property {(environment: Environment) => object[] | void} start gives instrumentations for the
 *   SDK to register
 */

const instrumentation = (config) => {
  const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
  return new EventLoopInstrumentation(config);
};

/** The innermost frame that is neither Node.js' own nor the tool's. */
function functionOf(frames) {
  const frame = frames.find(
    (line) => !/\(?(node:|internal\/)|node_modules.(blocked-at|@sentry)/.test(line),
  );
  return /^\s*at (?:async )?(.+?) \(/.exec(frame ?? '')?.[1];
}

/**
 * A span for the past, as a published monitor makes it: the parent is what is active in `after`.
 */
function startSpan(lengthMillis, type) {
  const startTime = new Date(Date.now() - lengthMillis);
  trace
    .getTracer('monitor')
    .startSpan(SPAN_NAME, { startTime, attributes: { asyncType: type } })
    .end();
}

/**
 * The event loop monitor alone, as the job process of LiveKit's agents starts it. Its metric counts
 * every block; its spans, at most 6 a minute, belong to the job's session and not to a request.
 */
function startLiveKit({ thresholdMillis, report }) {
  const dist = path.join(PACKAGE, 'node_modules', '@livekit', 'agents', 'dist');
  const { EventLoopMonitor, LoopMonitorThresholds, startMonitoring } = require(
    path.join(dist, 'telemetry', 'loop_monitor.cjs'),
  );
  require(path.join(dist, 'log.cjs')).initializeLogger({ pretty: false, level: 'info' });
  const { report: original } = EventLoopMonitor.prototype;
  EventLoopMonitor.prototype.report = function (blocked) {
    report({ lengthMillis: blocked.duration });
    original.call(this, blocked);
  };
  startMonitoring({
    name: 'job',
    thresholds: new LoopMonitorThresholds(thresholdMillis, Math.max(500, thresholdMillis)),
  });
}

function startDatadog() {
  process.env.DD_PROFILING_ENABLED = 'true';
  // One line with the configuration, at the start.
  process.env.DD_TRACE_STARTUP_LOGS = 'false';
  return peer('dd-trace').init();
}

/** @type {Record<string, Subject>} */
const SUBJECTS = {
  'this package': {
    reports: ['block', 'length', 'trace', 'function'],
    start: ({ thresholdMillis }) => [instrumentation({ thresholdMillis })],
  },
  blocked: {
    reports: ['block', 'length'],
    settleMillis: 250, // checks every 100 ms
    start({ thresholdMillis, report }) {
      peer('blocked')((lengthMillis) => report({ lengthMillis }), { threshold: thresholdMillis });
    },
  },
  'blocked-at': {
    reports: ['block', 'length', 'function'],
    start({ thresholdMillis, report }) {
      peer('blocked-at')(
        (lengthMillis, stack) => report({ lengthMillis, functionName: functionOf(stack) }),
        {
          threshold: thresholdMillis,
        },
      );
    },
  },
  'async_hooks monitor, Map entry per callback': {
    reports: ['block', 'length', 'trace'],
    start({ thresholdMillis }) {
      const starts = new Map();
      createHook({
        before(asyncId) {
          starts.set(asyncId, performance.now());
        },
        after(asyncId) {
          const start = starts.get(asyncId);
          if (start === undefined) return;
          starts.delete(asyncId);
          const length = performance.now() - start;
          if (length > thresholdMillis) startSpan(length);
        },
      }).enable();
    },
  },
  '@sentry/node-native': {
    // Its event has a trace, that of the process. On Node.js 24 it has the request's route, too.
    reports: ['block', 'function'],
    settleMillis: 500, // sends by HTTP, and checks again when the threshold has passed
    bringsSdk: true,
    start({ thresholdMillis, dsn }) {
      const sentry = peer('@sentry/node');
      const { eventLoopBlockIntegration } = peer('@sentry/node-native');
      sentry.init({
        dsn,
        tracesSampleRate: 1,
        integrations: [
          eventLoopBlockIntegration({ threshold: thresholdMillis, maxEventsPerHour: 1e6 }),
        ],
      });
    },
  },
  '@livekit/agents, event loop monitor': {
    reports: ['block', 'length'],
    start: startLiveKit,
  },
  'dd-trace with profiling': {
    reports: ['trace', 'function'],
    isProfile: true,
    bringsSdk: true,
    start: () => void startDatadog(),
    // The lower half of the trace id is the id of the request's span.
    traceId: () => peer('dd-trace').scope().active()?.context().toTraceId(),
  },
};

module.exports = { SPAN_NAME, SUBJECTS };
