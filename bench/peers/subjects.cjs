/**
 * This package and its peers, each set up as its own README says, with the same threshold. What a
 * tool has to say of a block goes to `report`; tools that make spans named `event-loop-blocked` are
 * heard through the SDK.
 */
const { createHook } = require('node:async_hooks');
const { createRequire } = require('node:module');
const path = require('node:path');
const { monitorEventLoopDelay } = require('node:perf_hooks');
const { trace } = require('@opentelemetry/api');

const SPAN_NAME = 'event-loop-blocked';
const peer = createRequire(path.join(__dirname, 'package', 'package.json'));

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
 * @property {boolean} [bringsSdk] it sets OpenTelemetry up itself
 * @property {string} [note]
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
 * A span for the past, as both published monitors make it: the parent is what is active in `after`.
 */
function startSpan(lengthMillis, type) {
  const startTime = new Date(Date.now() - lengthMillis);
  trace
    .getTracer('monitor')
    .startSpan(SPAN_NAME, { startTime, attributes: { asyncType: type } })
    .end();
}

/** @type {Record<string, Subject>} */
const SUBJECTS = {
  nothing: { reports: [], start() {} },
  'this package': {
    reports: ['block', 'length', 'trace', 'function'],
    start: ({ thresholdMillis }) => [instrumentation({ thresholdMillis })],
  },
  'this package, captureStack: false': {
    reports: ['block', 'length', 'trace'],
    start: ({ thresholdMillis }) => [instrumentation({ thresholdMillis, captureStack: false })],
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
  'toobusy-js': {
    reports: ['block'],
    settleMillis: 1100, // checks every 500 ms
    note: 'a smoothed lag: a block may be in two readings',
    start({ thresholdMillis, report }) {
      const toobusy = peer('toobusy-js');
      toobusy.maxLag(thresholdMillis);
      toobusy.onLag(() => report({}));
    },
  },
  'async_hooks monitor, Map entry per resource': {
    reports: ['block', 'length', 'trace'],
    start({ thresholdMillis }) {
      const resources = new Map();
      createHook({
        init(asyncId, type) {
          resources.set(asyncId, { type });
        },
        before(asyncId) {
          const resource = resources.get(asyncId);
          if (resource) resource.start = performance.now();
        },
        after(asyncId) {
          const resource = resources.get(asyncId);
          if (resource?.start === undefined) return;
          const length = performance.now() - resource.start;
          resources.delete(asyncId);
          if (length > thresholdMillis) startSpan(length, resource.type);
        },
        destroy(asyncId) {
          resources.delete(asyncId);
        },
      }).enable();
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
    reports: ['block', 'function'], // its event has a trace, that of the process
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
  'instrumentation-runtime-node': {
    reports: [],
    note: 'percentiles of the delay, per collection',
    start() {
      const { RuntimeNodeInstrumentation } = peer('@opentelemetry/instrumentation-runtime-node');
      return [new RuntimeNodeInstrumentation()];
    },
  },
  monitorEventLoopDelay: {
    reports: [],
    note: 'percentiles of the delay',
    start() {
      monitorEventLoopDelay().enable();
    },
  },
};

module.exports = { SPAN_NAME, SUBJECTS };
